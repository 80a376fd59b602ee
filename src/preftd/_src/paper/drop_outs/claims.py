"""Claims beyond the paper about CartPole with drop-outs: where preferences pay in control."""

from collections.abc import Iterable

from preftd._src.paper.claim import Cases, claimed, reported
from preftd._src.paper.drop_outs.studies import (
    BY_RATE,
    FACTORIAL,
    FEATURES,
    RATES,
    VIEWS,
    WEAKLY,
    WITHOUT,
    WITHOUT_BY_RATE,
    learner_label,
    task_label,
)

POOR, RICH = ("raw", "bias"), ("tiles", "cosines")
"""Features with which the critic cannot, and can, represent the value of CartPole."""
Method = tuple[str, str]
"""The rule of the critic, and the weight of the actor."""
PTD, PTD_CRITIC = ("PTD", "actor β"), ("PTD", "actor 1")
TD, TD_CRITIC = ("TD(λ)", "actor 1"), ("TD(λ)", "actor β")


def _returns(rule: str, gain: str, features: Iterable[str], views: Iterable[str] = VIEWS) -> Cases:
    """Mean returns by view and features."""
    return Cases(
        {
            f"{view}, {one}": reported(
                FACTORIAL[one], rule=rule, learner=learner_label(view, gain)
            ).score
            for one in features
            for view in views
        }
    )


def _over(one: Method, other: Method, features: Iterable[str]) -> Cases:
    return _returns(*one, features) / _returns(*other, features)


def _weakly(rule: str, gain: str) -> Cases:
    """Those with β = 0.1 at real observations."""
    return Cases.by_study(WEAKLY, rule=rule, learner=learner_label("backward", gain))


def _without(features: Iterable[str]) -> Cases:
    """Those of TD(0.9), which has no preferences."""
    return Cases.by_study({f"backward, {one}": WITHOUT[one] for one in features})


def _in_view(view: str) -> Cases:
    """Those of PTD in a view."""
    return Cases.by_study(FACTORIAL, rule="PTD", learner=learner_label(view, "actor β"))


def _by_rate(rule: str, gain: str, shown: str) -> Cases:
    """Those of held critics by rate."""
    label = learner_label("held", gain)
    return Cases.by_task(BY_RATE, _at_rates(shown), rule=rule, learner=label)


def _at_rates(shown: str) -> list[str]:
    return [task_label(rate, shown) for rate in RATES]


CLAIMS = claimed(
    "drop_outs",
    {
        "drop_outs_ptd_pays": _over(PTD, TD, RICH),
        "drop_outs_ptd_pays_with_poor_features": _over(PTD, TD, POOR),
        "drop_outs_gain_in_critic_only": _over(PTD_CRITIC, PTD, FEATURES),
        "drop_outs_gain_in_actor": _over(TD_CRITIC, TD, RICH),
        "drop_outs_gain_in_critic": _over(PTD, TD_CRITIC, RICH),
        "drop_outs_gain_in_critic_alone": _over(PTD_CRITIC, TD, RICH),
        "drop_outs_held_critic": _in_view("held") / _in_view("backward"),
        "drop_outs_true_online_critic": _in_view("true online") / _in_view("backward"),
        "drop_outs_representation_decides": _returns(*PTD, RICH, ["backward"]) / _without(RICH),
        "drop_outs_no_gain_with_poor_features": (
            _returns(*PTD, POOR, ["backward"]) / _without(POOR)
        ),
        "drop_outs_weak_preference_pays": _weakly(*PTD) / _weakly(*TD),
        "drop_outs_weak_preference_beats_none": _weakly(*PTD) / Cases.by_study(WITHOUT),
        "drop_outs_pay_at_every_rate": _by_rate(*PTD, "noise") / _by_rate(*TD, "noise"),
        "drop_outs_beat_none_at_every_rate": (
            _by_rate(*PTD, "noise") / Cases.by_task(WITHOUT_BY_RATE, _at_rates("noise"))
        ),
        "drop_outs_zeros_do_not_matter": _by_rate(*PTD, "zeros") / _by_rate(*TD, "zeros"),
    },
)
