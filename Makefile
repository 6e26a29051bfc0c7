# Every target builds the virtual environment it needs from the pins in constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready

RLLIB_VENV ?= .venv-rllib
RLLIB_BIN = $(RLLIB_VENV)/bin
RLLIB_READY = $(RLLIB_VENV)/.ready

.PHONY: train test check rllib clean

# From nothing: set up, train a small agent, and show it evaluated against the bots.
train: $(READY)
	$(BIN)/python -m training.train configs/quick.yaml

# From nothing: set up and run every test.
test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto tests/rules -m "not slow"

# From nothing: set up RLlib in an environment of its own, since it pins an older gymnasium, and run its tests and its page.
rllib: $(RLLIB_READY)
	OMP_NUM_THREADS=1 $(RLLIB_BIN)/python -m pytest tests/test_rllib.py \
		"tests/test_docs.py::test_python_blocks_run[rllib.md]" "tests/test_doc_commands.py::test_commands_run[rllib.md]"

# Lint, types, the import contract, and that every link of the documentation leads somewhere.
check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# torch comes first, by its pin, so that what needs it finds it installed and asks for no other build.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $(READY)

$(RLLIB_READY): pyproject.toml constraints-rllib.txt
	$(PYTHON) -m venv $(RLLIB_VENV)
	$(RLLIB_BIN)/python -m pip install --quiet -c constraints-rllib.txt torch
	$(RLLIB_BIN)/python -m pip install --quiet -c constraints-rllib.txt -e ".[rllib]" pytest
	touch $(RLLIB_READY)

clean:
	rm -rf $(VENV) $(RLLIB_VENV) build dist *.egg-info
