"""Claims beyond the paper about CartPole with drop-outs: where preferences pay in control."""

from collections.abc import Iterable

from preftd._src.paper.claim import LARGER, SAME, SMALLER, Cases, ratio, reported
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
SETTING = "CartPole whose observations are noise half of the time, with β = 0 there and 1 elsewhere"


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


OVER_TD = "return, PTD over TD(λ)"
ACTOR = "return, actor weighted by 1 over by β"
CLAIMS = (
    ratio(
        "drop_outs_ptd_pays",
        f"On {SETTING}, PTD has a larger return than TD(λ) with λ = 1 − β, if the critic can "
        "represent the value (tiles, cosines), in all views.",
        OVER_TD,
        LARGER,
        _returns("PTD", "actor β", RICH) / _returns("TD(λ)", "actor 1", RICH),
        "An actor that is weighted by β does not learn what to do on noise.",
    ),
    ratio(
        "drop_outs_ptd_pays_with_poor_features",
        f"On {SETTING}, PTD has a larger return than TD(λ) with λ = 1 − β, if the critic is linear "
        "in the four numbers, with or without a bias, in all views.",
        OVER_TD,
        LARGER,
        _returns("PTD", "actor β", POOR) / _returns("TD(λ)", "actor 1", POOR),
        "With β = 1 all targets bootstrap. From the four numbers alone, values are odd functions: "
        "they cannot say that a pole that stands is worth more than one that falls. Then nothing "
        "is learned, by any rule. A bias helps.",
    ),
    ratio(
        "drop_outs_gain_in_critic_only",
        f"On {SETTING}, PTD's gain belongs in the critic only: an actor weighted by 1 has a larger "
        "return, as β throws away half of its data.",
        ACTOR,
        LARGER,
        _returns("PTD", "actor 1", FEATURES) / _returns("PTD", "actor β", FEATURES),
        "What β throws away is noise: on it, the actor learns to do again what happened to be done "
        "before a good return, and what it learns for noise changes what it does elsewhere.",
    ),
    ratio(
        "drop_outs_gain_in_actor",
        f"On {SETTING}, weighting only the actor by β, with the critic of TD(λ), has a larger "
        "return than TD(λ), if the critic can represent the value.",
        "return, TD(λ) with actor weighted by β over 1",
        LARGER,
        _returns("TD(λ)", "actor β", RICH) / _returns("TD(λ)", "actor 1", RICH),
    ),
    ratio(
        "drop_outs_gain_in_critic",
        f"On {SETTING}, with the actor weighted by β in both, a critic that learns by PTD has a "
        "larger return than one that learns by TD(λ), if it can represent the value.",
        "return, PTD over TD(λ) as critic, actor weighted by β",
        LARGER,
        _returns("PTD", "actor β", RICH) / _returns("TD(λ)", "actor β", RICH),
        "TD(λ) fits one value to noise and to real observations that look like it.",
    ),
    ratio(
        "drop_outs_gain_in_critic_alone",
        f"On {SETTING}, with the actor weighted by 1 in both, a critic that learns by PTD has a "
        "larger return than one that learns by TD(λ), if it can represent the value.",
        "return, PTD over TD(λ) as critic, actor weighted by 1",
        LARGER,
        _returns("PTD", "actor 1", RICH) / _returns("TD(λ)", "actor 1", RICH),
        "PTD's critic learns nothing about noise, but an actor weighted by 1 learns there too, and "
        "takes its value as a baseline.",
    ),
    *(
        ratio(
            f"drop_outs_{view.replace(' ', '_')}_critic",
            f"On {SETTING}, a {view} critic gives PTD a larger return than the paper's, with all "
            "features.",
            f"return of PTD, {view} over backward",
            LARGER,
            _in_view(view) / _in_view("backward"),
            "Nothing that is hidden leaks into a held critic. That it gains little says that leaks "
            "were not what cost returns."
            if view == "held"
            else "",
        )
        for view in ("held", "true online")
    ),
    ratio(
        "drop_outs_representation_decides",
        f"On {SETTING}, the return of PTD over that of TD(0.9), which has no preferences, is above "
        "1 with tiles and cosines.",
        "return, PTD over TD(0.9)",
        LARGER,
        _returns("PTD", "actor β", RICH, ["backward"]) / _without(RICH),
    ),
    ratio(
        "drop_outs_no_gain_with_poor_features",
        f"On {SETTING}, the return of PTD over that of TD(0.9) is below 1 with the four numbers, "
        "with or without a bias: there, bootstrapping in full costs more than preferences gain.",
        "return, PTD over TD(0.9)",
        SMALLER,
        _returns("PTD", "actor β", POOR, ["backward"]) / _without(POOR),
        "A value that cannot be represented is better not bootstrapped from: λ = 0.9 sees ten "
        "rewards, β = 1 only those up to the next real observation.",
    ),
    ratio(
        "drop_outs_weak_preference_pays",
        "With β = 0.1 at real observations and 0 at noise, half of all, PTD has a larger return "
        "than TD(λ) with all features.",
        OVER_TD,
        LARGER,
        _weakly("PTD", "actor β") / _weakly("TD(λ)", "actor 1"),
        "It bootstraps a tenth at each real observation, and weights actor and critic by 0 on "
        "noise: what matters is which observations are trusted more, not how far.",
    ),
    ratio(
        "drop_outs_weak_preference_beats_none",
        "With β = 0.1 at real observations and 0 at noise, half of all, PTD has a larger return "
        "than TD(0.9), which has no preferences, with all features.",
        "return, PTD over TD(0.9)",
        LARGER,
        _weakly("PTD", "actor β") / Cases.by_study(WITHOUT),
    ),
    ratio(
        "drop_outs_pay_at_every_rate",
        "With noise, PTD has a larger return than TD(λ) at all rates of drop-outs, from 15 to 70 % "
        "(held critics with tiles).",
        OVER_TD,
        LARGER,
        _by_rate("PTD", "actor β", "noise") / _by_rate("TD(λ)", "actor 1", "noise"),
    ),
    ratio(
        "drop_outs_beat_none_at_every_rate",
        "With noise, PTD has a larger return than TD(0.9), which has no preferences, at all rates "
        "of drop-outs (held critics with tiles; TD(0.9): the paper's critic).",
        "return, PTD over TD(0.9)",
        LARGER,
        _by_rate("PTD", "actor β", "noise") / Cases.by_task(WITHOUT_BY_RATE, _at_rates("noise")),
    ),
    ratio(
        "drop_outs_zeros_do_not_matter",
        "With zeros in place of noise, PTD and TD(λ) have the same return, within 10 %, at all "
        "rates (held critics with tiles).",
        OVER_TD,
        SAME,
        _by_rate("PTD", "actor β", "zeros") / _by_rate("TD(λ)", "actor 1", "zeros"),
        "Zeros are one observation, in one tile of each grid: what is learned there changes values "
        "and actions of few others. Noise looks like all of them.",
    ),
)
