"""
Where TD(λ) diverges
====================

Two states, one feature, no rewards: all values are 0, and the weight should become 0. With a λ that
differs between the states, the expected update of TD(λ) grows without bound, although it learns
on-policy. That of Preferential TD converges, for any β.
"""

import matplotlib.pyplot as plt

from preftd import PTD, TD, tasks, theory
from preftd.report import look_of

LAMBDA = [0.99, 0.8]
task = tasks.make("counterexample_1")
print(theory.report(theory.compare(task.process, task.features, [TD(), PTD()], lambda_=LAMBDA)))

# %%
# The expected weight, step by step, from a start of 1:

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for rule in (TD(), PTD()):
    key = theory.key_matrix(task.process, task.features, rule, lambda_=LAMBDA)
    weights = theory.mean_trajectory(key, step_size=0.5, steps=200, start=[1.0])
    look = look_of(rule.name)
    axes.plot(weights[:, 0], color=look.colour, linestyle=look.line, label=rule.name)
axes.set(xlabel="steps", ylabel="expected weight", yscale="log")
axes.legend(frameon=False)
