# make reproduce: everything there is of the paper, into results/
# make test:      lint, types and tests

PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: reproduce test bench clean

reproduce: $(READY)
	$(VENV)/bin/preftd reproduce

test: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest -n 2 --dist loadfile  # many tests wait for programs that they started

bench: $(READY)
	$(VENV)/bin/preftd bench

# Made again only when the requirements change.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet torch==2.13.0
	$(VENV)/bin/pip install --quiet --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) .numba_cache results
