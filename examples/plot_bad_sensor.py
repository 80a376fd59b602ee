"""
A log with readings that cannot be trusted
==========================================

A machine has two sensors, and each episode ends with a reward that depends on both. The second
sensor breaks now and then, and shows −9. A flag in the log says when. With β = 0 there, the learner
passes over these rows; the rewards on the way still count.
"""

import matplotlib.pyplot as plt
import numpy as np

from preftd import PTD, TD, Experience, LinearLearner
from preftd.report import look_of

rng = np.random.default_rng(0)
level = np.repeat(rng.normal(size=400), 10)  # what a sensor reads does not change in an episode
features = np.column_stack([np.ones_like(level), level])
terminated = np.arange(level.size) % 10 == 9
reward = np.where(terminated, features @ [1.0, 0.5], 0.0)
broken = (rng.random(level.size) < 0.3) & ~terminated
features[broken, 1] = -9.0
log = Experience.from_log(features, reward, discount=1.0, terminated=terminated)
print(log)

# %%
# The weights should become 1 and 0.5. TD(0) learns from all rows alike, PTD from the good ones:

learners = {
    "TD(λ)": (LinearLearner(2, TD(), 0.02), np.ones(level.size)),
    "PTD": (LinearLearner(2, PTD(), 0.02), 1.0 - broken),
}
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for name, (learner, beta) in learners.items():
    second = []
    for begin in range(0, len(log), 10):
        learner.learn(log[begin : begin + 10], beta=beta[begin : begin + 10])
        second.append(learner.weights[1])
    look = look_of(name)
    axes.plot(second, color=look.colour, linestyle=look.line, label=name)
    print(learner, learner.weights.round(2))
axes.axhline(0.5, color="grey", linewidth=0.8)
axes.set(xlabel="episodes", ylabel="weight of the second sensor")
axes.legend(frameon=False)
