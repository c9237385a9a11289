# Each target makes the environment it needs: a clone, `make demo`, done. A second call installs nothing.
# Another interpreter, in an environment of its own: `make suite PYTHON=python3.13 VENV=.venv313`.
# More workers for tests and documentation: `make test JOBS=8`.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest

export MPLBACKEND := Agg

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo lab test check lint suite suite-without-jit browser docs bench reliability fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-all ## compare models on built-in data; model, certificate and report in demo/
	@mkdir -p demo
	$(BIN)/surefit fit tumors --max-time 60 --out demo/model.surefit --force

lab: $(VENV)/.installed-all ## open the laboratory in a browser
	$(BIN)/surefit lab

test: browser lint suite-without-jit suite docs ## everything that must hold: lint, tests, documentation

check: test ## what continuous integration runs (the same as test)

lint: $(VENV)/.installed-dev ## style, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

# The laboratory is tested in a real browser; as root on Debian this installs one, elsewhere it says what to type.
browser:
	@for name in "$${SUREFIT_BROWSER:-}" chromium chromium-browser google-chrome google-chrome-stable; do \
	  if [ -n "$$name" ] && command -v "$$name" >/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	else \
	  echo "The tests of the laboratory need Chromium: sudo apt-get install chromium," \
	       "or set SUREFIT_BROWSER to the path of a Chromium or Chrome." >&2; exit 1; \
	fi

# A file stays with one worker, so that two of them seldom compile the same loops.
suite: browser $(VENV)/.installed-dev ## all tests, fast and slow, and the examples in docstrings
	$(PYTEST) -n $(JOBS) --dist loadfile

# Coverage and debuggers see inside loops only when Numba is off; the same answers must come out.
suite-without-jit: $(VENV)/.installed-dev ## the tests of terms and core with the loops run as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(JOBS) tests/core tests/contracts/test_losses.py tests/contracts/test_penalties.py \
	  tests/contracts/test_operators.py

docs: $(VENV)/.installed-dev ## the documentation, every warning an error; open docs/_build/html/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -j $(JOBS) -b html docs docs/_build/html

bench: $(VENV)/.installed-bench ## time surefit and its peers in one run (an idle machine, please)
	$(BIN)/python -m benchmarks

reliability: $(VENV)/.installed-dev ## hostile inputs and files, interrupts, leaks, mutations, statements, clusters, sessions of the laboratory
	$(BIN)/python -m tests.reliability.inputs
	$(BIN)/python -m tests.reliability.labels
	$(BIN)/python -m tests.reliability.files 2000
	$(BIN)/python -m tests.reliability.interrupts 20
	$(BIN)/python -m tests.reliability.commands 20
	$(BIN)/python -m tests.reliability.leaks 100000
	$(BIN)/python -m tests.reliability.strict
	$(BIN)/python -m tests.reliability.mutations
	$(BIN)/python -m tests.reliability.statements 10000
	$(BIN)/python -m tests.reliability.cluster --threads
	$(BIN)/python -m tests.reliability.cluster
	$(BIN)/python -m tests.reliability.memory
	$(BIN)/python -m tests.lab.sessions --sessions 50 --seconds 120

SECONDS ?= 3600
fuzz: $(VENV)/.installed-dev ## random estimators, parameters and data for an hour (SECONDS=36000 for longer); prints its seed
	$(BIN)/python -m tests.reliability.fuzz --seconds $(SECONDS)

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
