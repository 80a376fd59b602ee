"""Experience: transitions from tasks, Gymnasium environments and logs, in one type."""

from preftd._src.experience.encoders import (
    Encoder,
    Fourier,
    Identity,
    OneHot,
    Polynomial,
    TileCoding,
)
from preftd._src.experience.environment import Recorder, VectorRecorder
from preftd._src.experience.indices import Indices
from preftd._src.experience.memory_traces import MemoryTraces, memory_traces
from preftd._src.experience.stream import Experience, Visit

__all__ = [
    "Encoder",
    "Experience",
    "Fourier",
    "Identity",
    "Indices",
    "MemoryTraces",
    "OneHot",
    "Polynomial",
    "Recorder",
    "TileCoding",
    "VectorRecorder",
    "Visit",
    "memory_traces",
]
