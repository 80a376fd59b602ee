"""The options of an actor-critic, checked: actor, critic, step sizes and discount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from preftd._src.arrays import InputError, as_count, as_flag, instance, short, unit
from preftd._src.experience.encoders import Encoder
from preftd._src.learners.step_size import StepSizePair
from preftd._src.learners.transition import MOST_FEATURES
from preftd._src.learners.views import check_view
from preftd._src.names import nearest

GAINS = ("rule", "one", "beta")
ACTOR_CHOICES = {
    "activation": ("tanh", "relu"),
    "optimiser": ("adam", "sgd"),
    "reduction": ("sum", "mean"),
    "gain": GAINS,
    "init": ("uniform", "xavier", "small"),
}
VIEWS = ("backward", "true_online", "held")
TRUNCATIONS = ("bootstrap", "terminate")


@final
@dataclass(frozen=True)
class Actor:
    """A network with one hidden layer and a softmax over actions, updated after each episode.

    Parameters
    ----------
    units : int
        The width of the hidden layer.
    activation : {"tanh", "relu"}
    bias : bool
        Whether both layers have biases.
    optimiser : {"adam", "sgd"}
        One step per episode; Adam with torch's default moments.
    reduction : {"sum", "mean"}
        Whether the updates of an episode's steps are summed or averaged.
    gain : {"rule", "one", "beta"}
        The weight of a step's update: the rule's gain, 1, or β.
    init : {"uniform", "xavier", "small"}
        The initial weights: "uniform" in ±1/√inputs, biases too, as in torch; "xavier" in ±√(6 /
        (inputs + outputs)), biases 0; "small" as "uniform" with the output layer divided by 100, so
        that all actions are about equally likely at first.

    Examples
    --------
    >>> Actor(units=8, activation="relu").optimiser
    'adam'

    """

    units: int = 4
    activation: str = "tanh"
    bias: bool = False
    optimiser: str = "adam"
    reduction: str = "sum"
    gain: str = "rule"
    init: str = "uniform"

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", as_count("units", self.units, 1, MOST_FEATURES))
        object.__setattr__(self, "bias", as_flag("bias", self.bias))
        for name, known in ACTOR_CHOICES.items():
            nearest(name, getattr(self, name), known)


@final
@dataclass(frozen=True)
class Critic:
    """A linear critic v(x) = w·features(x), updated at each step with the rule's decay and gain.

    Parameters
    ----------
    view : {"held", "backward", "true_online"}, optional
        When and how weights move, as for `Linear` (default: that of the rule, held for PTD).
    features : Encoder, optional
        Turns an observation into features, such as `TileCoding` or `Fourier` (default: the
        observation itself).
    bias : bool
        Whether a feature that is always 1 is added.
    truncation : {"bootstrap", "terminate"}
        Whether a truncated episode bootstraps from its last observation, or counts as terminated.
    bounded : bool
        Whether gains of the critic are at most ``1 / (α |x|²)``, with its features x: no step then
        moves a prediction past its target. The actor's gain does not change.

    Examples
    --------
    >>> from preftd.experience import Fourier
    >>> Critic(features=Fourier(low=[-1, -1], high=[1, 1], order=3)).features.size
    16

    """

    view: str | None = None
    features: Encoder | None = None
    bias: bool = False
    truncation: str = "bootstrap"
    bounded: bool = False

    def __post_init__(self) -> None:
        check_view(self.view, VIEWS)
        for name in ("bias", "bounded"):
            object.__setattr__(self, name, as_flag(name, getattr(self, name)))
        nearest("truncation", self.truncation, TRUNCATIONS)
        given: Any = self.features
        if given is not None and not (callable(given) and hasattr(given, "size")):
            raise InputError(
                f"features is {short(given)}: give an encoder, such as TileCoding(...), or None."
            )


def changed(given: Actor | Critic) -> list[str]:
    """The options that differ from the default, as words of a label; none for the paper's view."""
    usual = type(given)()
    words = []
    for name, value in vars(given).items():
        if value == getattr(usual, name) or (name, value) == ("view", "backward"):
            continue
        if isinstance(value, bool):
            words.append(f"{type(given).__name__.lower()} {name}")
        elif isinstance(value, str):
            words.append(value.replace("_", " ") + (f" {name}" if value in GAINS else ""))
        else:
            words.append(f"{value} {name}" if name == "units" else type(value).__name__)
    return words


def as_pair(given: Any) -> StepSizePair:
    """The step sizes of actor and critic."""
    return instance("step_size", given, StepSizePair, "StepSizePair(actor=0.01, critic=0.001)")


def check_parts(actor: object, critic: object) -> None:
    """Refuse anything but an actor or critic."""
    instance("actor", actor, Actor, "one, such as Actor()")
    instance("critic", critic, Critic, "one, such as Critic()")


def as_discount(given: Any) -> float:
    """The discount of steps that do not terminate; 0 would end the episode."""
    discount = unit("discount", given)
    if discount == 0:
        raise InputError("discount is 0, which ends an episode: give one above 0, such as 1e-9.")
    return discount
