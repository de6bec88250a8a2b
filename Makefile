# Everything on a machine that has Python 3.11 or newer with venv and pip, and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint unit test-slow bench docs clean

demo: $(READY)
	$(BIN)/storyproof generate tomi --out demo/tomi --train 9999 --val 999 --test 999 --seed 7 --force
	$(BIN)/storyproof generate tom-babi --out demo/tom-babi --train 0 --val 0 --test 1200 --seed 7 --force
	$(BIN)/storyproof verify demo/tomi
	$(BIN)/storyproof verify demo/tom-babi
	$(BIN)/storyproof evaluate --model random,majority,rules,oracle --data demo/tom-babi
	$(BIN)/storyproof evaluate --model random,majority,rules,oracle --data demo/tomi
	$(BIN)/storyproof show demo/tomi --index 7
	$(BIN)/storyproof generate clutrr --out demo/clutrr --preset generalization-23 --seed 7 --force
	$(BIN)/storyproof verify demo/clutrr
	$(BIN)/storyproof evaluate --model random,majority,rules,oracle --data demo/clutrr
	$(BIN)/storyproof show demo/clutrr --index 3
	@echo "The files are in $(CURDIR)/demo: tomi, tom-babi and clutrr, with a manifest.json each."

test: lint unit

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

unit: $(READY)
	$(BIN)/pytest -n 2 -m "not slow"

test-slow: $(READY)
	$(BIN)/pytest -n 2 -m slow

bench: $(READY)
	$(BIN)/python -m benchmarks.run

docs: $(READY)
	$(BIN)/python -m docs.generate

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# The lock pins everything; installing again is a matter of touching it.
$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)
