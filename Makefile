# The environment lies in VENV; an installation is repeated when pyproject.toml changes.
VENV ?= .venv
# Test processes on two cores: one waits now and then for a server or a process of its own.
JOBS ?= 3
# A test process works through neighbours, so that what a file's tests share is set up once and not by each.
SHARED := --numprocesses $(JOBS) --dist worksteal
PART ?= 0/1
# In place of those that make test runs.
MARKS ?=
# Of the rare tests those that CI runs: an eighth, which the commit chooses; all: RARE=0/1.
COMMIT := $(shell git rev-parse --short=8 HEAD 2>/dev/null || echo 0)
RARE ?= $(shell echo $$((0x$(COMMIT) % 8)))/8
TORCH ?= torch
BIN := $(VENV)/bin
# What was compiled once is kept: images of containers often ask that it be not, and then each process compiles all.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# pip compiles on one core, and tests of other people too, which are three tenths of it all.
INSTALL := $(PIP) install --no-compile
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-room test-rare test-ci costs test-server test-slow test-embed test-lake test-spark test-duckdb check format bench calibrate campaign sweep docs man wheel clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed-dev ## Set up the environment for development (.venv)

demo: $(VENV)/.installed ## Ingest the shipped dumps, compare, refresh, write the report
	@PATH="$(abspath $(BIN)):$$PATH" sh docs/demo/run.sh

# Types take a minute of one core, for which tests need not wait: what is found stands among their dots.
test: setup ## Check style and types, run the tests
	@mkdir -p build; status=0; \
	{ $(MAKE) --no-print-directory check >build/check.log 2>&1; checked=$$?; echo; cat build/check.log; exit $$checked; } & \
	$(BIN)/pytest $(SHARED) $(OPTIONS) $(if $(MARKS),-m '$(MARKS)') || status=1; \
	wait $$! || { echo 'style or types are not as they should be: build/check.log'; status=1; }; \
	exit $$status

test-room: setup ## Run the tests of one room: make test-room ROOM=stats (a folder of tests/)
	@$(BIN)/pytest $(SHARED) tests/$(ROOM) tests/test_layers.py

test-rare: setup ## Run what takes long and rarely breaks (minutes; .ci/run does it too)
	@$(BIN)/pytest $(SHARED) -m 'rare and not on_server'

# One session in place of two: each collects the whole suite in each of its processes, starts servers, and fills the
# stores of a file that has tests of both. Rare tests of lakes are among them, the others are those of test-lake.
test-ci: setup ## Run test and an eighth of test-rare as one session, as .ci/run does (RARE=0/1: all)
	@echo "of the rare tests part $(RARE)"
	@$(MAKE) --no-print-directory test OPTIONS='--rare-part $(RARE)' \
		MARKS='(rare or not (slow or spark or lake)) and not on_server'

costs: setup ## Run both and write which tests are rare by what they cost (an hour)
	@$(BIN)/pytest $(SHARED) --write-costs -m '(rare or not (slow or spark or lake or embed)) and not on_server'

test-server: setup ## Run on PostgreSQL what is proven of both engines at once in CI (minutes; before a release)
	@$(BIN)/pytest $(SHARED) -m 'on_server and not slow'

test-slow: setup ## Run simulations, all orders of all dumps, all loads on the server (up to an hour)
	@$(BIN)/pytest $(SHARED) -m 'slow and not spark'

# The program itself is not installed anew: .ci/run has the tests of lakes beside.
define EXTRAS
import sys, tomllib
extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]
print(*[package for name in sys.argv[1:] for package in extras[name]], sep="\n")
endef
export EXTRAS

# To collect the whole suite takes each process 13 s: those of extras collect the files that hold any of them.
test-embed: setup ## Run the tests that need a text model (installs one: TORCH=torch==...+cpu saves 3 GB)
	@$(BIN)/python -c "$$EXTRAS" embed embed-test | $(INSTALL) '$(TORCH)' -r /dev/stdin
	@$(BIN)/pytest -m embed $$(grep -rlE 'mark\.embed' tests --include='test_*.py')

test-lake: setup $(VENV)/.installed-lake ## Run the tests of lakes (installs deltalake, pysail, pyspark-client: 125 MB)
	@$(BIN)/pytest --numprocesses $(JOBS) --dist loadscope -m 'lake and not (rare or slow or on_server)' \
		$$(grep -rlE 'mark\.lake|support\.lakes' tests --include='test_*.py')

test-spark: setup $(VENV)/.installed-lake ## Run the tests on a real cluster of Spark (Java 17; installs Spark into build/spark: 450 MB)
	@[ -e build/spark/pyspark ] || $(INSTALL) --no-deps --target build/spark 'pyspark>=4.3,<5'
	@$(BIN)/pytest -m '$(or $(MARKS),spark)' tests/spark

test-duckdb: setup ## Run the tests of stores on the other major version of DuckDB (installs it into build/duckdb)
	@$(PIP) install --upgrade --no-deps --target build/duckdb "$$($(BIN)/python -c \
		'import duckdb; print("duckdb>=1.5.5,<2" if int(duckdb.__version__[0]) > 1 else "duckdb>=2,<3")')"
	@WAREHOUSE_OTHER_DUCKDB=$(abspath build/duckdb) $(BIN)/pytest -m rare tests/store/test_engine_versions.py
	@PYTHONPATH=$(abspath build/duckdb) $(BIN)/pytest $(SHARED) tests/store tests/queries tests/ingest

check: setup ## Check style (ruff) and types (mypy)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet || { echo 'make format lays these files out:'; $(BIN)/ruff format --check; }
	@$(BIN)/mypy

format: setup ## Lay out the code and mend what ruff can mend
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: setup ## Measure speed and memory (minutes)
	@$(BIN)/python benchmarks/run.py

calibrate: setup ## Simulate the default intervals and tests, write docs/reference/calibration.md (minutes)
	@$(BIN)/python benchmarks/calibrate.py --jobs $(JOBS)
	@$(BIN)/python benchmarks/calibrate_unequal.py --jobs $(JOBS)
	@$(BIN)/python benchmarks/calibrate_composed.py --jobs $(JOBS)
	@$(BIN)/python benchmarks/calibrate_formulations.py --jobs $(JOBS)
	@$(BIN)/python benchmarks/calibrate_sequential.py
	@$(BIN)/python benchmarks/calibrate_subsets.py
	@$(BIN)/python benchmarks/calibrate_matrix.py
	@$(BIN)/python benchmarks/calibrate_training.py
	@$(BIN)/python benchmarks/calibrate_audit.py
	@$(BIN)/python benchmarks/calibrate_scale.py
	@$(BIN)/python benchmarks/calibrate_dimensions.py
	@$(BIN)/python benchmarks/calibrate_features.py
	@$(BIN)/python benchmarks/calibrate_horizon.py
	@$(BIN)/python benchmarks/calibrate_judges.py
	@$(BIN)/python benchmarks/calibrate_cost.py
	@$(BIN)/python benchmarks/calibrate_preferences.py

sweep: setup ## Ingest every dump with strange values for every key (hours; PART=0/40 is a part)
	@$(BIN)/python tests/campaign/sweep.py --part $(PART)

campaign: setup ## Ingest thousands of broken dumps (an hour or more; goes on where it stopped)
	@$(BIN)/python tests/campaign/run.py

docs: setup ## Build the documentation as a site into build/docs (a broken link is an error)
	@$(PIP) install --editable '.[docs]'
	@$(BIN)/sphinx-build -q -W --keep-going -c docs/site -d build/docs/.doctrees . build/docs/html
	@echo build/docs/html/index.html

man: setup ## Write the man page build/warehouse.1
	@mkdir -p build
	@$(BIN)/python -m warehouse.cli.ui.man_page > build/warehouse.1
	@echo build/warehouse.1

wheel: setup ## Build the wheel into dist/
	@rm -rf build
	@$(PIP) wheel --no-build-isolation --no-deps --wheel-dir dist .
	@rm -rf build
	@ls dist/*.whl

clean: ## Remove what was built, cached or demonstrated; the environment stays
	@rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis demo.duckdb* report.html
	@find . -path './$(VENV)' -prune -o -name __pycache__ -type d -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV) ..."
	@$(INSTALL) --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV), with the tools for development ..."
	@$(INSTALL) --editable '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.installed

# .ci/run has tests of Spark beside others, which must not find the package half installed.
$(VENV)/.installed-lake: pyproject.toml | $(VENV)/.installed-dev
	@$(INSTALL) --no-build-isolation --editable '.[lake]'
	@$(COMPILE)
	@touch $@

$(BIN)/python:
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
		if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			$$python -m venv $(VENV) && exit; \
			rm -rf $(VENV); \
			echo "$$python cannot make a virtual environment; on Debian: apt-get install python3-venv"; \
			exit 1; \
		fi; \
	done; \
	echo "no Python 3.11 or newer among the commands; name one: make PYTHON=/path/to/python"; \
	exit 1
