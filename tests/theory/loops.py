"""Small tasks in which a hidden state may be visited many times in a row."""

from preftd import Features, Task

LOOP = Task(
    "loop",
    [
        (0, 0, 0.5, 1, 0.5, 0.1),
        (0, 0, 0.5, 2, 1, 0),
        (1, 0, 0.3, 1, 0.2, 0.3),
        (1, 0, 0.4, 2, 1, 0),
        (1, 0, 0.1, 0, -1, 0.5),
        (1, 0, 0.2, -1, 3, 0),
        (2, 0, 0.6, 1, 0, 0),
        (2, 0, 0.4, 0, 0.7, 0),
    ],
    Features([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], [0, 1, 0]),
    0.8,
    start=[0.3, 0.6, 0.1],
    observable=[True, False, True],
)
"""Hidden state 1 may be visited many times in a row, first, and last."""

LONGER_LOOP = Task(
    "longer loop",
    LOOP.outcomes,
    Features([[1.0, 0.0], [0.5, 0.5], [0.6, 0.8]], [0, 1, 0]),
    1.0,
    start=LOOP.start,
    observable=LOOP.observable,
)
"""The same without a discount, and with preferred states whose features overlap."""
