"""Control beyond the paper: decisions behind hidden states, and doorways of four rooms."""

from preftd._src.paper.experiment import Experiment, shown

EXPERIMENT = Experiment(
    __name__,
    (
        *shown(
            "Decisions whose outcomes lie behind hidden states; actor-critic.",
            control_corridors=(
                "Actor-critic beyond the paper: decisions whose outcomes lie behind hidden states",
                "Returns of four methods, and of PTD and TD(λ) with one part exchanged; higher is "
                "better.",
            ),
        ),
        *shown(
            "Four rooms, in which preferred states are the doorways between them.",
            control_four_rooms=(
                "Actor-critic beyond the paper: PTD in four rooms with preference for doorways",
                "Returns of an actor-critic that prefers doorways, random states or no states; "
                "higher is better.",
            ),
            credit=(
                "Four rooms, beyond the paper: does preference for doorways let credit travel "
                "faster?",
                "The squared error that is left after some episodes, divided by that of TD(λ), "
                "computed exactly: below 1, a method learns faster than TD(λ).",
            ),
        ),
    ),
)
