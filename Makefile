# Pliant: `make run` solves a bundled robot, `make test` checks everything. See `make help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The first interpreter that Pliant supports; choose another with `make run PYTHON=/path/to/python`.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV ?= .venv
# pytest workers; the benchmarks and the 50 s simulations want a core each.
WORKERS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --progress-bar off --disable-pip-version-check
# Of all that pip says, the names of the packages as they arrive; errors pass by on stderr.
NAMES := awk 'BEGIN { printf "   " } /^Collecting/ { sub(/[^A-Za-z0-9._-].*/, "", $$2); printf " %s", $$2; fflush() } \
	/^Installing collected/ { printf "\n    unpacking ...\n"; fflush() }'
SAY := printf '\033[1m==>\033[0m %s\n'
# One thread per process: the matrices are small and the workers already fill the cores.
QUIET_THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg
SOURCES := $(wildcard pliant tests examples benchmarks docs)

.PHONY: help run test lint types layers unit docs bench peers wheel format clean

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

run: $(VENV)/.stamp-core ## install Pliant into .venv and solve a bundled robot
	@$(SAY) "solving the bundled robot (results go to ./pliant-results)"
	@$(BIN)/pliant run

test: lint types layers unit docs ## everything: lint, types, layers, tests, documentation
	@$(SAY) "all checks passed"

lint: $(VENV)/.stamp-dev ## style and formatting
	@$(SAY) "ruff: style and formatting"
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)

types: $(VENV)/.stamp-dev ## static types
	@$(SAY) "mypy: types"
	@$(BIN)/mypy

layers: $(VENV)/.stamp-dev ## the import contract between folders
	@$(SAY) "import-linter: layers"
	@$(BIN)/lint-imports

unit: $(VENV)/.stamp-dev ## unit and validation tests, examples, README snippets
	@$(SAY) "pytest: unit and validation tests, examples, README (the first run also compiles kernels)"
	@$(QUIET_THREADS) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --durations=10

docs: $(VENV)/.stamp-dev ## documentation and gallery in docs/_build/html
	@$(SAY) "sphinx: documentation and gallery (every example runs)"
	@$(QUIET_THREADS) $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@$(SAY) "documentation: docs/_build/html/index.html"

bench: $(VENV)/.stamp-core ## the speed tables
	@for script in $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py)); do \
		$(SAY) "$$script"; $(QUIET_THREADS) $(BIN)/python $$script; done

peers: $(VENV)/.stamp-core ## Pliant against its peers, each in an environment of its own; writes docs/peers.md
	@$(SAY) "peers from PyPI, tasks T1 to T7 (about half an hour)"
	@$(QUIET_THREADS) $(BIN)/python benchmarks/peers/run.py

wheel: $(VENV)/.stamp-core ## a wheel in dist/ with kernels compiled for x86-64-v3
	@$(SAY) "compiling kernels for x86-64-v3 (some minutes)"
	@$(BIN)/python -m pliant.study.ship_kernels
	@$(BIN)/python -m pip wheel --quiet --no-deps --disable-pip-version-check --wheel-dir dist .
	@rm -rf pliant/_kernels
	@ls -lh dist/*.whl

format: $(VENV)/.stamp-dev ## rewrite the sources in the project's format
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)

clean: ## remove everything that make created
	rm -rf $(VENV) docs/_build docs/gallery docs/api/reference.md docs/sg_execution_times.rst
	rm -rf build dist pliant-results .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: an environment is made once and refreshed only when pyproject.toml changes. The install is
# editable, so changes to the sources need no reinstall.

$(VENV)/.stamp-venv:
	@if [ -z "$(PYTHON)" ]; then \
		echo "No Python 3.11, 3.12 or 3.13 was found. Install one, or name it: make run PYTHON=/path/to/python3.12"; \
		exit 1; fi
	@"$(PYTHON)" -c 'import sys; v = sys.version.split()[0]; sys.exit(None if (3, 11) <= sys.version_info[:2] < (3, 14) else \
		f"$(PYTHON) is Python {v}, but Pliant needs 3.11, 3.12 or 3.13. Name another one: make run PYTHON=/path/to/python3.12")'
	@$(SAY) "creating a virtual environment in $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv "$(VENV)" || { \
		echo "The virtual environment could not be made. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.stamp-core: $(VENV)/.stamp-venv pyproject.toml
	@$(SAY) "installing Pliant and its dependencies (a minute or two the first time)"
	@$(PIP) --editable . | $(NAMES)
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp-venv pyproject.toml
	@$(SAY) "installing Pliant with its development tools (a minute or two the first time)"
	@$(PIP) --editable '.[dev]' | $(NAMES)
	@touch $@ $(VENV)/.stamp-core
