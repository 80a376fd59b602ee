"""Claims beyond the paper: control where outcomes of decisions lie behind long hidden stretches."""

from preftd import theory
from preftd._src.paper.cartpole.quantities import part
from preftd._src.paper.claim import Cases, Claim, difference, reported
from preftd._src.paper.control.studies import BAIT, CORRIDORS, DOUBLE, TEMPTED
from preftd._src.paper.samples import Sample
from preftd._src.paper.verdict import Region
from preftd.tasks import Task, make

EFFECT = "mean return of 300 episodes"
HIGHER = Region(low=0)
NO_LEAK = (
    "Backward, a hidden state takes what was added on the way into it back with other weights, so "
    "that noise leaks into the values of decisions; the held critic updates once it knows."
)


def returns(rule: str, form: str, tasks: tuple[str, ...] = (*TEMPTED, DOUBLE)) -> Cases:
    """Mean returns of a method by task."""
    return Cases(
        {task: reported(CORRIDORS, task=task, rule=rule, learner=form).score for task in tasks}
    )


def _at_the_end(rule: str) -> Cases:
    """Mean returns of the last quarter of the episodes, with the held critic."""
    return Cases(
        {
            task: reported(CORRIDORS, task=task, rule=rule, learner="held").by(
                part, "return", 0.75, 1.0
            )
            for task in (*TEMPTED, DOUBLE)
        }
    )


def expected_return(task: Task) -> float:
    """The expected return of the task's own policy."""
    return float(task.start @ task.values)


def _progress(rule: str, form: str) -> Cases:
    """How far returns are on the way from the random policy to the best one."""
    found = returns(rule, form, tuple(TEMPTED))
    made = {}
    for label, of in TEMPTED.items():
        task = make("decision_corridors", **of)
        least, most = expected_return(task), expected_return(theory.optimal(task))

        def share(one: Sample, least: float = least, most: float = most) -> Sample:
            return Sample(one.seeds, (one.values - least) / (most - least))

        made[label] = found[label].then(share)
    return Cases(made)


CLAIMS = (
    Claim(
        "control_ptd_above_td",
        "Where decisions are far apart, an actor-critic with PTD has higher returns than one with "
        "TD(λ), both with the held critic.",
        (),
        difference(
            f"{EFFECT}, PTD less TD(λ)", HIGHER, returns("PTD", "held") - returns("TD(λ)", "held")
        ),
        "At hidden states both actor and critic of TD(λ) learn from noise, those of PTD do not.",
    ),
    Claim(
        "control_ptd_above_etd_fixed",
        "PTD has higher returns than ETD-fixed, both with the held critic.",
        (),
        difference(
            f"{EFFECT}, PTD less ETD-fixed",
            HIGHER,
            returns("PTD", "held") - returns("ETD-fixed", "held"),
        ),
    ),
    Claim(
        "control_ptd_above_etd_variable",
        "PTD has higher returns than ETD-variable, which does not update hidden states either.",
        (),
        difference(
            f"{EFFECT}, PTD less ETD-variable",
            HIGHER,
            returns("PTD", "held") - returns("ETD-variable", "held"),
        ),
    ),
    Claim(
        "control_ptd_ends_above_etd_variable",
        "PTD also ends above ETD-variable, in the last quarter of the episodes.",
        (),
        difference(
            "mean return of the last 75 of 300 episodes, PTD less ETD-variable",
            HIGHER,
            _at_the_end("PTD") - _at_the_end("ETD-variable"),
        ),
        "Step sizes are chosen by the mean of all episodes. PTD's are large: most seeds find the "
        "goal soon, and some never; ETD-variable is slow and surer.",
    ),
    Claim(
        "control_needs_a_held_critic",
        "PTD owes this to the held critic: with the paper's backward one its returns are lower.",
        (),
        difference(
            f"{EFFECT}, PTD held less backward",
            HIGHER,
            returns("PTD", "held") - returns("PTD", "backward"),
        ),
        NO_LEAK,
    ),
    Claim(
        "control_needs_the_gain_in_the_actor",
        "PTD owes it to the gain in the actor, too: with an actor that weights all steps alike its "
        "returns are lower.",
        (),
        difference(
            f"{EFFECT}, PTD with the rule's gain less with gain 1",
            HIGHER,
            returns("PTD", "held") - returns("PTD", "held, actor 1"),
        ),
        "What the actor does in hidden states has no effect, but the noise of their updates has.",
    ),
    Claim(
        "control_needs_the_gain_in_the_critic",
        "And to the gain in the critic: TD(λ) with an actor that weights its steps by β has lower "
        "returns.",
        (),
        difference(
            f"{EFFECT}, PTD less TD(λ) with an actor weighted by β",
            HIGHER,
            returns("PTD", "held") - returns("TD(λ)", "held, actor β"),
        ),
    ),
    Claim(
        "control_td_takes_the_bait",
        f"With a bait of {BAIT} against 3 behind three decisions, TD(λ) learns next to nothing: of "
        "the way from the random policy to the best one it covers less than a tenth.",
        (),
        difference(
            "share of the way from the random policy's return to the best",
            Region(high=0.1),
            {form: _progress("TD(λ)", form) for form in ("backward", "held")},
        ),
        "The bait is seen at once, the goal only through the value of the next decision.",
    ),
    Claim(
        "control_ptd_goes_for_the_goal",
        "PTD with the held critic covers more than half of that way, also with 25 hidden states.",
        (),
        difference(
            "share of the way from the random policy's return to the best",
            Region(low=0.5),
            _progress("PTD", "held"),
        ),
    ),
)
