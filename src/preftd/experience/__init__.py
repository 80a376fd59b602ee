"""Experience: what happened, in arrays whose meaning is said once."""

from preftd.experience.encoders import Encoder, Identity, OneHot, Polynomial, TileCoding
from preftd.experience.environment import Recorder, VectorRecorder
from preftd.experience.stream import Experience, Visit

__all__ = [
    "Encoder",
    "Experience",
    "Identity",
    "OneHot",
    "Polynomial",
    "Recorder",
    "TileCoding",
    "VectorRecorder",
    "Visit",
]
