# Every target builds the virtual environment it needs from the pins in constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready

.PHONY: train test check clean

# From nothing: set up, train a small agent, and show it evaluated against the bots.
train: $(READY)
	$(BIN)/python -m training.train configs/quick.yaml

# From nothing: set up and run every test.
test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto tests/rules -m "not slow"

# Lint, types and the import contract.
check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# torch comes first, by its pin, so that what needs it finds it installed and asks for no other build.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) build dist *.egg-info
