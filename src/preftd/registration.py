"""Gymnasium names of tasks: preftd/RandomWalk-v0, preftd/Corridor-v0 and so on.

This module is separate and refers to tasks by name, so that importing preftd does not load them.
"""

ENVIRONMENTS = {
    "preftd/RandomWalk-v0": "random_walk",
    "preftd/Corridor-v0": "corridor",
    "preftd/DoubleCorridor-v0": "double_corridor",
    "preftd/DecisionCorridors-v0": "decision_corridors",
    "preftd/CrossGrid-v0": "cross_grid",
    "preftd/RandomGrid-v0": "random_grid",
    "preftd/FourRooms-v0": "four_rooms",
    "preftd/Counterexample1-v0": "counterexample_1",
    "preftd/Counterexample2-v0": "counterexample_2",
}


def register_all() -> None:
    """Register all tasks, so that `gymnasium.make("preftd/Corridor-v0", length=10)` works."""
    from gymnasium.envs.registration import register  # noqa: PLC0415  (see preftd.command)

    for name, task in ENVIRONMENTS.items():
        register(
            name,
            entry_point="preftd.tasks.environment:TaskEnvironment",
            kwargs={"task": task},
        )
