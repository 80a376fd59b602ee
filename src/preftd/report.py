"""Pictures and pages: figures of studies, episodes, logs, and the colours of methods."""

from preftd._src.report.episode_strip import draw_episode
from preftd._src.report.figures.study import along, bars, curves, step_sizes, widths
from preftd._src.report.log_page import write_log_page
from preftd._src.style import look_of

__all__ = [
    "along",
    "bars",
    "curves",
    "draw_episode",
    "look_of",
    "step_sizes",
    "widths",
    "write_log_page",
]
