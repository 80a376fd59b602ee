"""Experience: transitions from tasks, Gymnasium environments and logs, in one type."""

from preftd.experience.encoders import Encoder, Fourier, Identity, OneHot, Polynomial, TileCoding
from preftd.experience.environment import Recorder, VectorRecorder
from preftd.experience.indices import Indices
from preftd.experience.stream import Experience, Visit

__all__ = [
    "Encoder",
    "Experience",
    "Fourier",
    "Identity",
    "Indices",
    "OneHot",
    "Polynomial",
    "Recorder",
    "TileCoding",
    "VectorRecorder",
    "Visit",
]
