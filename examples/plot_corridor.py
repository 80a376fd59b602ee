"""
Values behind a corridor of noise
=================================

An agent decides once, walks through a corridor in which its sensor shows nothing but noise, and is
paid at the end. What is the decision worth? TD(λ) learns from the noise as well; Preferential TD,
with β = 0 where there is noise, does not.
"""

import matplotlib.pyplot as plt

from preftd import PTD, TD, evaluate, tasks
from preftd.preferences import Observability

task = tasks.make("corridor", length=5)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
task.plot(beta=task.observable, axes=axes)

# %%
# β is 1 where the state is observable and 0 where it is hidden. Both methods learn from the same
# experience, with the same step sizes and seeds:

STEP_SIZES = [0.01, 0.03, 0.1, 0.3]
found = [
    evaluate(task, rule, Observability(), STEP_SIZES, episodes=100, seeds=20)
    for rule in (TD(), PTD())
]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for evaluation in found:
    evaluation.plot(axes)

# %%
# What each step size leaves over 100 episodes:

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for evaluation in found:
    evaluation.plot_step_sizes(axes)
