# `make demo` and `make test` do all of their own set-up: Python >= 3.11, make and pip are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check bench docs clean
.DEFAULT_GOAL := test

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all,dev]'
	touch $@

demo: $(READY) ## run the two sample apps against a collector and print the report
	$(BIN)/rag-probe demo

test: $(READY) ## every test, on all cores; PYTEST="…" adds options
	$(BIN)/python -m pytest -n auto --dist loadgroup $(PYTEST)

check: $(READY) ## style, types, layers, registries
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/contracts/test_registries.py

bench: $(READY) ## ratios, each measured in one run
	$(BIN)/python -m tests.benchmarks

docs: $(READY) ## write docs/conventions.md from the code
	$(BIN)/python -m rag_probe.wire.document > docs/conventions.md

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
