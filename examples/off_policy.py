"""Off-policy learning: one policy acts, and the learner predicts the values of another.

Run it with `preftd run examples/off_policy.py`.

The features of two states are 1 and 2. The behaviour policy moves to either state with probability
½, the target policy always to the second. Updates in the first state are therefore more frequent
than under the target policy, and each moves its value towards nearly twice that value.

TD(0) is known to diverge on this chain. PTD with β = 1 is TD(0), and its convergence proof assumes
on-policy data: with β = ½ in the first state it diverges too. With β = 0 there, it learns from the
second state alone and converges. The expected update of ETD converges for every β, but its
follow-on trace is a product of importance ratios of 2 with infinite variance, so its runs do not
converge.
"""

from preftd import ETD, PTD, TD, Linear, Study, Task

CONTINUES = 0.95
DISCOUNT = 0.99
KEPT = DISCOUNT * CONTINUES
REWARD = {0: 1 - 2 * KEPT, 1: 2 - 2 * KEPT}
"""Rewards for which the values are 1 and 2, which the features can represent."""

TWO_STATES = Task(
    "two states",
    [
        (state, action, probability, next_state, REWARD[state])
        for state in (0, 1)
        for action in (0, 1)
        for probability, next_state in ((CONTINUES, action), (1 - CONTINUES, -1))
    ],
    features=[[1.0], [2.0]],
    discount=DISCOUNT,
    start=[0.5, 0.5],
    policy=[[0, 1], [0, 1]],
    behaviour=[[0.5, 0.5], [0.5, 0.5]],
)

STUDY = Study(
    name="off-policy",
    tasks=TWO_STATES,
    rules=[TD(), PTD(), ETD()],
    preferences={"β = 1, 1": 1.0, "β = ½, 1": [0.5, 1.0], "β = 0, 1": [0.0, 1.0]},
    learners=Linear("backward"),
    step_sizes=[0.003, 0.01, 0.03, 0.1],
    episodes=1000,
    seeds=20,
)
