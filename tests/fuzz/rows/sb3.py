"""What Stable-Baselines3 calls has its arguments; ours are refused in tests/sb3."""

from __future__ import annotations

from fuzz.row import Row

ROWS: list[Row] = []
_THEIRS = "arguments of Stable-Baselines3; ours are refused in tests/sb3"
_CALLED = "Stable-Baselines3 or the callback calls it"
UNCHECKED = {
    "sb3.DictPreferenceBuffer": _THEIRS,
    "sb3.PreferenceBuffer": _THEIRS,
    "sb3.PreferenceBuffer.add": _CALLED,
    "sb3.PreferenceBuffer.arrive": _CALLED,
    "sb3.PreferenceBuffer.begin": _CALLED,
    "sb3.PreferenceBuffer.compute_returns_and_advantage": _CALLED,
    "sb3.PreferenceBuffer.get": _CALLED,
    "sb3.PreferenceBuffer.load_state": _CALLED,
    "sb3.PreferenceCallback": _THEIRS,
    "sb3.PreferenceMaskablePPO": _THEIRS,
    "sb3.PreferencePPO": _THEIRS,
    "sb3.PreferenceRecurrentPPO": _THEIRS,
}
