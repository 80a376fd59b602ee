"""Actor-critic on CartPole (figure A.13): studies, figures and claims."""
