"""Without torch, `preftd.torch` says in one sentence what to install."""

import sys
from importlib import import_module

import pytest


def test_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "preftd.torch", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"install it with pip install 'preftd\[torch\]'"):
        import_module("preftd.torch")
