"""Tests of `preftd.jax` compute in float64, and leave JAX as it is for other tests."""

from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(autouse=True)
def _in_float64() -> Iterator[None]:
    with jax.enable_x64(True):
        yield
