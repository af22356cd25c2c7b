# make setup | demo | test | lint | docs | bench | fuzz | soak | clean

VENV := .venv
BIN := $(VENV)/bin
# The Python to build on: the one that .venv has, or python3; say PYTHON=python3.12 for another.
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell $(BIN)/python -c 'import os, sys; print(os.path.realpath(sys._base_executable))' 2>/dev/null || echo python3)
endif

# One thread per process: the tests use the cores by themselves.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

# The robot of the demo.
ROBOT ?= emps

ISOLATED := $(BIN)/python tools/isolated.py
# A file stays on one worker; every worker has a ROS domain of its own. A worker that dies ends the
# run (pytest-xdist may wait for ever for the one that replaces it).
PYTEST_ARGS ?= -n 2 --dist loadfile --max-worker-restart 0

# Of fuzz and soak.
SEED ?= 0
CASES ?= 20000
MINUTES ?= 60

.PHONY: help setup demo test lint docs bench fuzz soak clean

help:
	@echo 'make setup   .venv with ROS 2, robot_id_msgs and robot_id (done by the others too)'
	@echo 'make demo    see it work (ROBOT=emps, or scara, tx40)'
	@echo 'make test    lint, types and tests'
	@echo 'make lint    lint and types only'
	@echo 'make docs    the pages of doc/ and docstrings into build/docs; a warning is an error'
	@echo 'make bench   measure the speed'
	@echo 'make fuzz    damaged and hostile inputs (SEED=0 CASES=20000)'
	@echo 'make soak    the whole ROS graph with random faults (MINUTES=60 SEED=0)'
	@echo 'make clean   remove everything that was built'

setup:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo 'setup: no $(PYTHON) on this machine; install Python 3.10 to 3.14 (Debian or Ubuntu: sudo apt install python3 python3-venv python3-dev)' >&2; exit 1; }
	@$(PYTHON) tools/setup

demo: setup
	@$(ISOLATED) $(BIN)/python tools/demo.py $(ROBOT)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

test: lint
	@$(ISOLATED) $(BIN)/python tools/run_tests.py $(PYTEST_ARGS)

docs: setup
	@$(BIN)/sphinx-build -q -E -W --keep-going -b html -d build/doctrees doc build/docs
	@echo 'docs: build/docs/index.html'

bench: setup
	@if ls bench/bench_*.py >/dev/null 2>&1; then $(ISOLATED) $(BIN)/python -m bench; else echo 'bench: no benchmarks yet'; fi

fuzz: setup
	@$(BIN)/python -m tools.fuzz --seed $(SEED) --cases $(CASES)

soak: setup
	@$(ISOLATED) $(BIN)/python -m tools.soak --minutes $(MINUTES) --seed $(SEED)

clean:
	rm -rf $(VENV) build install log .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
