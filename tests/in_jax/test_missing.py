"""Without jax or optax, `preftd.jax` says in one sentence what to install."""

import sys
from importlib import import_module

import pytest


@pytest.mark.parametrize("missing", ["jax", "optax"])
def test_the_refusal_says_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("preftd.jax")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError) as refused:
        import_module("preftd.jax")
    assert str(refused.value) == (
        f"{missing} is not installed: install it with pip install 'preftd[jax]'"
    )
