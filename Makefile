# Every habit of the project, one target each. On a fresh machine `make demo` and `make test` set up
# all they need in .venv; afterwards they reinstall only when pyproject.toml has changed.

WINDOWS := $(filter Windows_NT,$(OS))
PYTHON ?= $(if $(WINDOWS),python,python3)
VENV := .venv
BIN := $(VENV)/$(if $(WINDOWS),Scripts,bin)
# One worker a core (two where the number is not known).
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)
# What to pass on, as in `make test ARGS="tests/gates -x"`.
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test docs fuzz bench integration explorer lint types gates format clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.stamp-demo  ## run examples/demo.py on this machine's CPU
	@$(BIN)/python examples/demo.py $(ARGS)

test: $(VENV)/.stamp-dev  ## every test but the marked long runs
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

fuzz: $(VENV)/.stamp-dev  ## the long runs: random programs, slow sweeps
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n $(WORKERS) --timeout 3600 -m "fuzz or slow" $(ARGS)

bench: $(VENV)/.stamp-dev  ## time against NumPy, torch and Numba
	$(BIN)/python -m benchmarks.run $(ARGS)

integration: $(VENV)/.stamp-integration  ## unmodified kernel libraries, op by op against PyTorch
	$(BIN)/python -m integration $(ARGS)

docs: $(VENV)/.stamp-dev  ## the documentation as a site, build/docs/index.html
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs $(ARGS)

explorer: $(VENV)/.stamp-dev  ## the explorer's pages of the gallery, in build/explorer
	$(BIN)/python -m tools.explorer $(ARGS)

lint: $(VENV)/.stamp-dev  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.stamp-dev  ## mypy, strict
	$(BIN)/mypy

gates:  ## sizes, layering and hygiene of the source (standard library only)
	$(PYTHON) -m tools.ci

format: $(VENV)/.stamp-dev  ## rewrite the source in the one format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what the tools left behind; .venv stays
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis $(VENV)/.stamp-*
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "python3 -m venv failed; on Debian: apt-get install python3-venv" >&2; exit 1; }

# An installation for tests is also one for the demo.
$(VENV)/.stamp-dev: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $(VENV)/.stamp-demo $@

$(VENV)/.stamp-demo: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install -q -e .
	@touch $@

# The libraries come without what they depend on: PyTorch is there, and Triton is what is stood in for.
$(VENV)/.stamp-integration: integration/requirements.txt $(VENV)/.stamp-dev
	$(BIN)/python -m pip install -q --no-deps -r integration/requirements.txt
	@touch $@
