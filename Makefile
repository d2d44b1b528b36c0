# Needs Python 3.11 or later, pip, make and a shell; everything else goes into .venv
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := demo
.PHONY: help demo test coverage lint types contracts check rules tidy fixtures dist hooks accuracy \
	completeness drift bench docs notebooks fuzz clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## diagnose a bundled faulty run: verdict here, page in demo-report.html
	$(BIN)/runlens demo

test: $(VENV)/.dev ## all tests
	$(BIN)/python -m pytest -q -n auto

# two threads that begin at once may both set coverage's tracer, which Python 3.11 reports as
# an exception of nobody; `make test` runs the same tests, and fails by those
coverage: $(VENV)/.dev ## the tests of the readers, which must reach every branch of them
	$(BIN)/python -m pytest -q -n auto -p no:unraisableexception \
		--cov --cov-report=term-missing:skip-covered \
		tests/sources tests/cli tests/fuzz tests/test_house.py

lint: $(VENV)/.dev ## ruff, format and rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev ## mypy --strict
	$(BIN)/mypy

contracts: $(VENV)/.dev ## who may import whom
	$(BIN)/lint-imports

check: lint types contracts test ## what CI asks: lint, types, contracts, test

# of one rule: its own cases and pages, what holds for all rules together, and its own file of tests
RULE_FILE = tests/rules/test_$(subst -,_,$(RULE)).py
rules: $(VENV)/.dev ## the tests that every rule must pass, a minute; one of them: make rules RULE=sawtooth
	$(if $(RULE),@$(BIN)/python tests/rules/registered.py $(RULE))
	$(BIN)/python -m pytest -q -n auto tests/rules/test_cases.py tests/rules/test_rules.py \
		tests/test_house.py tests/test_incidents.py tests/test_how_to_log.py \
		tests/test_seed_coverage.py $(if $(RULE),$(wildcard $(RULE_FILE)) \
		-k "$(RULE) or house or incidents or how_to or seed or $(notdir $(RULE_FILE))")

tidy: $(VENV)/.dev ## format, and repair what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

BENCH ?= ../shared/bench
fixtures: $(VENV)/.dev ## take the small real runs of the tests out of BENCH=../shared/bench
	$(BIN)/python fixtures/make.py $(BENCH)

dist: $(VENV)/.dev ## wheel and sdist in dist/, their content checked
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python tests/check_wheel.py dist/*.whl

hooks: $(VENV)/.dev ## check before each commit
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pre-commit
	$(BIN)/pre-commit install

accuracy: $(VENV)/.installed ## score the rules on the labelled runs, where they are at hand
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/accuracy.py

completeness: $(VENV)/.dev ## every number of the labelled runs against plain readers, where at hand
	$(BIN)/python benchmarks/completeness.py

BASE ?= HEAD
drift: $(VENV)/.installed ## findings that differ from BASE, as Markdown: make drift BASE=HEAD~1
	@$(BIN)/python benchmarks/drift.py $(BASE)

bench: $(VENV)/.dev ## speed, side by side
	$(BIN)/python benchmarks/diagnose.py
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/ingest.py

docs: $(VENV)/.installed ## the site of docs/, every link checked: build/site/index.html
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

notebooks: $(VENV)/.dev ## execute the notebooks and keep their outputs
	$(BIN)/python notebooks/render.py

N ?= 100000
SEED ?= 1
fuzz: $(VENV)/.dev ## read N damaged files: make fuzz N=5000 SEED=2
	$(BIN)/python -m tests.fuzz.long_run $(N) $(SEED)

clean: ## forget the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage dist build

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "RunLens needs Python 3.11 or later; set PYTHON=python3.12 or the like")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
