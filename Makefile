# Each target makes the environment it needs: a clone, `make demo`, done. A second call installs nothing.
# Another interpreter: `make demo PYTHON=python3.13`. More workers for the tests: `make test JOBS=8`.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest

export MPLBACKEND := Agg

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check lint suite suite-without-jit docs bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-all ## fit a certified model on built-in data; model and report in demo/
	@mkdir -p demo
	$(BIN)/surefit fit --out demo/model.surefit --report demo/report.html --force

test: lint suite-without-jit suite docs ## everything that must hold: lint, tests, documentation

check: test ## what continuous integration runs (the same as test)

lint: $(VENV)/.installed-dev ## style, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

# A file stays with one worker, so that two of them seldom compile the same loops.
suite: $(VENV)/.installed-dev ## all tests, fast and slow, and the examples in docstrings
	$(PYTEST) -n $(JOBS) --dist loadfile

# Coverage and debuggers see inside loops only when Numba is off; the same answers must come out.
suite-without-jit: $(VENV)/.installed-dev ## the tests of terms and core with the loops run as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(JOBS) tests/core tests/contracts/test_losses.py tests/contracts/test_penalties.py \
	  tests/contracts/test_designs.py

docs: $(VENV)/.installed-dev ## the documentation, every warning an error; open docs/_build/html/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/.installed-bench ## time surefit and its peers in one run (an idle machine, please)
	$(BIN)/python -m benchmarks

clean: ## remove the environment and everything that was generated
	rm -rf $(VENV) demo dist build docs/_build docs/auto_examples docs/reference benchmarks/results
	rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache
	find src tests benchmarks docs examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "surefit needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	       "Name another one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) could not create $(VENV); on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/.installed-all: pyproject.toml | $(BIN)/pip
	$(PIP) install --editable '.[all]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/pip
	$(PIP) install --editable '.[test,lint,docs]'
	-$(PIP) install liblinear-official libsvm-official # from source: without a C++ compiler their audit is not tested
	@touch $@

$(VENV)/.installed-bench: pyproject.toml | $(BIN)/pip
	$(PIP) install --editable '.[bench]'
	@touch $@
