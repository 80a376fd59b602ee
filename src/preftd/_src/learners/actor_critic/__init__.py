"""Actor-critic: a linear critic with the traces of any rule, and a network that acts."""
