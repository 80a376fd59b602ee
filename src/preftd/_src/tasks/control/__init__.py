"""Tasks with actions that a learner chooses: CartPole, and tasks from a table."""
