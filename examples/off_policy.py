"""Off-policy learning: one policy acts, the values of another are learned.

Run it with `preftd run examples/off_policy.py`.

The features of two states are 1 and 2. The behaviour policy goes to either state with probability
½, the target policy always to the second, so the first is updated more often than the target policy
would visit it, and the updates push its value up by nearly twice what they should.

TD(0) diverges here, as is well known for this chain. PTD with β = 1 is TD(0), and its proof of
convergence is for on-policy data: with β = ½ in the first state it diverges as well. With β = 0
there it learns from the second state alone, and converges. The expected update of ETD converges for
every β, but its follow-on trace is a product of importance ratios of 2 whose variance is infinite,
so that its runs do not.
"""

from preftd import ETD, PTD, TD, Study, Task

GOES_ON = 0.95
DISCOUNT = 0.99
KEPT = DISCOUNT * GOES_ON
REWARD = {0: 1 - 2 * KEPT, 1: 2 - 2 * KEPT}
"""With these, the values are 1 and 2: the features can represent them."""

TWO_STATES = Task(
    "two states",
    [
        (state, action, probability, next_state, REWARD[state])
        for state in (0, 1)
        for action in (0, 1)
        for probability, next_state in ((GOES_ON, action), (1 - GOES_ON, -1))
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
    step_sizes=[0.001, 0.003, 0.01, 0.03, 0.1],
    episodes=200,
    seeds=20,
)
