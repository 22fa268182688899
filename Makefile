# make run     train a player for two minutes and let it play a tournament
# make test    run the tests
# make lint    check style and types
#
# Everything is installed into .venv the first time, and again when pyproject.toml or
# constraints.txt change. Other interpreters: make run PYTHON=python3.12

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Without compiling thousands of files to bytecode, most of which are never imported: Python does it
# for those that are, and installing takes half the time.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --no-compile -c constraints.txt

# Arguments for the program behind a target: make run ARGS=--help, make test ARGS="-k deck -x"
ARGS ?=
# Test processes: one for each core that the system shows.
JOBS ?= logical

# Neither windows nor plots on a screen.
test test-slow test-all: export SDL_VIDEODRIVER ?= dummy
test test-slow test-all: export MPLBACKEND ?= Agg

.PHONY: help run test test-slow test-all lint format setup clean
.DEFAULT_GOAL := help

help:
	@echo 'make run        train a player for two minutes and let it play a tournament'
	@echo 'make test       run the tests (test-slow: the slow ones, test-all: both)'
	@echo 'make lint       check style and types (format: correct style in place)'
	@echo 'make setup      only install everything for development into $(VENV)'
	@echo 'make clean      remove $(VENV) and caches'

run: $(VENV)/.train
	$(BIN)/python -m training.quickstart $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m slow $(ARGS)

test-all: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m '' $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: $(VENV)/.dev

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Empty files inside the environment remember what is installed there.

$(VENV)/.train: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing into $(VENV) what training and tournaments need. This is done once.'
	$(INSTALL) -e '.[train]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing into $(VENV) what development needs. This is done once.'
	$(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/.train

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, $(PYTHON) is " + \
	    sys.version.split()[0] + ". Try: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
