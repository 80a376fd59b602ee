"""Pictures and pages: episodes, logs, and the colours of methods."""

from preftd._src.report.episode_strip import draw_episode
from preftd._src.report.log_page import write_log_page
from preftd._src.style import look_of

__all__ = ["draw_episode", "look_of", "write_log_page"]
