# make reproduce  all figures, claims and the page of the paper, into results/, in 5 to 10 minutes on two cores:
#                 computes the chains, walk, corridors and prediction in four rooms; reads the rest (grids, CartPole,
#                 control, learned preferences) from files of the package, and recomputes 2 seeds of each study of it
#                 `.venv/bin/preftd reproduce --full` computes everything: 40 to 51 minutes when measured
# make test       lint, types and tests, in about five minutes on two cores
# make test-all   the same with long campaigns: kills, full disks, full-size figures, more examples
# make bench      speed and memory against peers; BENCH="linear online" runs some
# make docs       runs every snippet, then builds the site with its gallery: docs/_build/

PYTHON ?= python3
VENV := .venv
LIBRARY := $(VENV)/.library
READY := $(VENV)/.ready
# One thread for matrix products: two workers with two threads each would wait for each other.
# Two heaps instead of one for each thread: a worker then takes a tenth less memory.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MALLOC_ARENA_MAX=2 $(VENV)/bin/pytest -n 2 --dist worksteal

.PHONY: reproduce test test-all browser docs check lint types kernels bench clean

reproduce: $(LIBRARY)
	$(VENV)/bin/preftd reproduce

test: check
	$(PYTEST) -m "not slow"

test-all: check browser
	PREFTD_BROWSER=required $(PYTEST) --hypothesis-profile=explore

# Pages are tested in a real browser; make test skips that where there is none.
browser:
	command -v chromium && command -v chromedriver || apt-get install --yes chromium chromium-driver

docs: $(READY)
	$(PYTEST) README.md CONTRIBUTING.md docs tests/test_docs.py -m "not slow"
	$(VENV)/bin/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build

check: $(READY)
	$(MAKE) --no-print-directory --jobs=2 lint types kernels

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(READY)
	$(VENV)/bin/mypy

# Compiled once here, or each worker of the test run would compile the same kernels.
kernels: $(READY)
	PYTHONPATH=. $(VENV)/bin/python tests/compile_kernels.py

bench: $(READY)
	$(VENV)/bin/python -m benchmarks $(BENCH)

# Made again only when the requirements change. The library alone is enough to reproduce the paper;
# tests and documentation also need its extras.
$(LIBRARY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --editable .
	touch $(LIBRARY)

$(READY): $(LIBRARY)
	$(VENV)/bin/pip install --quiet torch==2.13.0
	$(VENV)/bin/pip install --quiet --editable '.[dev,docs]'
	touch $(READY)

clean:
	rm -rf $(VENV) src/preftd/_src/__pycache__ results docs/_build docs/gallery
