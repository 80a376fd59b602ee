"""
Frames of an episode
====================

Every task is a Gymnasium environment, and draws itself with its current state marked. ``render``
returns an array, as video recorders expect it.
"""

import gymnasium
import matplotlib.pyplot as plt

import preftd  # noqa: F401  (it registers the environments)

environment = gymnasium.make("preftd/CrossGrid-v0", render_mode="rgb_array")
environment.reset(seed=3)
environment.action_space.seed(3)
figure, every = plt.subplots(1, 4, figsize=(8, 2.6), layout="constrained")
for axes in every:
    axes.imshow(environment.render())
    axes.axis("off")
    for _ in range(5):
        environment.step(environment.action_space.sample())
