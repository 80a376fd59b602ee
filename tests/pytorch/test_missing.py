"""Without torch, `preftd.torch` says in one sentence what to install."""

import sys
from importlib import import_module

import pytest


def test_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("preftd.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError) as refused:
        import_module("preftd.torch")
    assert str(refused.value) == (
        "PyTorch is not installed: install it with pip install 'preftd[torch]'"
    )
