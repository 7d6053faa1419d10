# make demo    set up and show what the library does
# make test    set up, lint, and run every test that needs no data set (`check` is the same)
# make lint    style, types, layers and file sizes only
# make test-oldest   some tests with the oldest versions that pyproject.toml allows (Python 3.11)
# make slow    the slow tests, and those on real data in the folder PEGASOS_DATA
# make hostile certificates of FITS=1000 cruel fits against an oracle of their own (some minutes)
# make faults  whether the tests notice faults made on purpose in a copy of src/ (an hour)
# make bench   side by side with the peers, on the data in PEGASOS_DATA (bench-kernel: with kernels)
# make bench-ordinary   the same on ordinary tables, text and kernels; about 25 minutes on two cores
# make papers  every table and figure of the five papers, quick (papers-full: all sizes and seeds)
# make docs-tables   the tables of solvers in README.md and docs/, from the catalogue
# make docs-online   the figure and tables of docs/online.md (MNIST from PEGASOS_DATA)
# make clean   remove caches and build products (`distclean`: also .venv and .venv-oldest)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
VENV ?= .venv
VENV_OLDEST ?= .venv-oldest
PYTHON_OLDEST ?= python3.11
JOBS ?= 2
PYTEST_ARGS ?=
FITS ?= 1000
LIMIT ?=
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist=worksteal

# Numba's disk cache notices edits in the file of a kernel but not in the files
# it calls, so every state of src/ has a cache of its own. Bounds checking is
# not part of Numba's cache key either: it has its own cache too.
SRC_HASH := $(shell find src -name '*.py' -print0 2>/dev/null | LC_ALL=C sort -z \
              | xargs -0 -r sha256sum | sha256sum | cut -c1-16)
CACHE := $(CURDIR)/.cache
NUMBA_COMPILED := $(CACHE)/numba-$(SRC_HASH)
NUMBA_BOUNDS := $(CACHE)/numba-$(SRC_HASH)-bounds
KEEP_CACHES := 6
export NUMBA_CACHE_DIR := $(NUMBA_COMPILED)

PYTHON_FOLDERS := $(wildcard src tests bench papers examples docs)
# Where compiled code reads and writes arrays: the part worth checking bounds on. Most of what that takes
# is compiling, so it is done for one loss: losses are functions of numbers and index nothing. Tests
# marked `fast` have their bounds checked by NumPy, with every loss, in the uncompiled pass.
# Certificates are made by the tests of the solvers, too.
BOUNDS_TESTS := $(wildcard tests/data tests/problem tests/kernel_matrix tests/solvers)
# So are the methods that the papers compare with, whose loops are tested against transcriptions.
OTHER_LOSSES := logistic or squared or epsilon or smoothed or custom or ones_own or softmax
COMPARED := compared or hostile or simba or svmsgd or sgd_qn or mpu or cutting or ocas or svm_perf or scheduled

.PHONY: help setup demo test check lint test-compiled test-bounds test-uncompiled test-oldest slow \
        hostile faults data bench bench-ordinary bench-kernel papers papers-full docs-tables docs-online \
        caches clean distclean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

# ---------------------------------------------------------------- set-up

setup: $(VENV)/.installed

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pegasos needs Python 3.11 or later; choose one with: make PYTHON=python3.11")'
	@echo 'Setting up $(VENV) ...'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo 'Installing pegasos and what it needs into $(VENV) (about a minute) ...'
	$(BIN)/python -m pip install --quiet -e '.[dev,plot]'
	touch $@

$(VENV)/.installed-bench: pyproject.toml $(VENV)/.installed
	@echo 'Installing the peers for the benchmark into $(VENV) (some minutes) ...'
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	touch $@

# Keep the caches of the last few states of src/ only.
caches:
	@mkdir -p '$(NUMBA_COMPILED)' '$(NUMBA_BOUNDS)'
	@touch '$(NUMBA_COMPILED)' '$(NUMBA_BOUNDS)'
	@ls -dt '$(CACHE)'/numba-* | tail -n +$$(( $(KEEP_CACHES) + 1 )) | xargs -r rm -rf

# ---------------------------------------------------------------- use

demo: setup caches
	$(BIN)/python examples/demo.py

# ---------------------------------------------------------------- tests

test: lint test-compiled test-bounds test-uncompiled
check: test

lint: setup
	$(BIN)/ruff check $(PYTHON_FOLDERS)
	$(BIN)/ruff format --check $(PYTHON_FOLDERS)
	$(BIN)/mypy
	$(BIN)/lint-imports --cache-dir '$(CACHE)/import-linter'
	@find $(PYTHON_FOLDERS) -name '*.py' -exec awk \
	  'FNR == 501 { print FILENAME ": more than 500 lines; split it"; long = 1 } END { exit long }' {} +

test-compiled: setup caches
	$(PYTEST) -m 'not slow and not data' $(PYTEST_ARGS) src tests

test-bounds: setup caches
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR='$(NUMBA_BOUNDS)' \
	  $(PYTEST) -m 'not fast and not slow and not data' \
	  -k 'not ($(OTHER_LOSSES) or $(COMPARED))' $(PYTEST_ARGS) $(BOUNDS_TESTS)

test-uncompiled: setup
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m 'fast and not slow and not data' $(PYTEST_ARGS) tests

# Not part of `test`: all is installed and compiled once more. The tests are of what a version can
# break: examples, containers of rows, compiled loops, the contract of estimators.
OLDEST_NEEDS := pytest pytest-xdist hypothesis pandas polars matplotlib
OLDEST_TESTS := src tests/data tests/test_dispatch.py tests/test_disk_cache.py \
                tests/test_numba_private.py tests/test_parallel.py tests/test_progress.py \
                tests/kernel_matrix/test_register_sums.py tests/problem/test_exponential.py \
                tests/estimators/test_sklearn_contract.py tests/estimators/test_callbacks.py

test-oldest: $(VENV_OLDEST)/.installed caches
	NUMBA_CACHE_DIR='$(NUMBA_COMPILED)/oldest' $(VENV_OLDEST)/bin/python -m pytest -n $(JOBS) \
	  --dist=worksteal -m 'not slow and not data' $(PYTEST_ARGS) $(OLDEST_TESTS)

$(VENV_OLDEST)/.installed: pyproject.toml tests/oldest_versions.py
	@echo 'Installing the oldest versions that pegasos allows into $(VENV_OLDEST) ...'
	$(PYTHON_OLDEST) -m venv --clear $(VENV_OLDEST)
	$(VENV_OLDEST)/bin/python tests/oldest_versions.py > $(VENV_OLDEST)/requirements.txt
	$(VENV_OLDEST)/bin/python tests/oldest_versions.py $(OLDEST_NEEDS) >> $(VENV_OLDEST)/requirements.txt
	$(VENV_OLDEST)/bin/python -m pip install --quiet -r $(VENV_OLDEST)/requirements.txt -e .
	touch $@

slow: setup caches
	@test -n "$${PEGASOS_DATA:-}" || echo 'PEGASOS_DATA is not set: tests on real data will be skipped.'
	$(PYTEST) -m 'slow or data' $(PYTEST_ARGS) tests

hostile: setup caches
	$(BIN)/python -m tests.hostile.run --named --fits $(FITS) --jobs $(JOBS)

faults: setup
	$(BIN)/python -m tests.faults.run --jobs $(JOBS)

# ---------------------------------------------------------------- benchmark

# Seconds per fit of each part, so that bench-ordinary, which makes the README's tables of ordinary
# data, takes about 25 minutes in all; LIMIT=20 gives every part 20 s instead (some hours).
ORDINARY := ordinary:2 ordinary.defaults:4 sweep:4 scale:4 kernel.classes:15 kernel.regression:10 \
            kernel.predict:15

data:
	@test -n "$${PEGASOS_DATA:-}" \
	  || { echo 'Set PEGASOS_DATA to the folder that holds the data sets.' >&2; exit 2; }

bench: $(VENV)/.installed-bench caches data
	$(BIN)/python -m bench --limit $(or $(LIMIT),60)

bench-ordinary: $(VENV)/.installed-bench caches data
	for part in $(ORDINARY); do \
	  $(BIN)/python -m bench.$${part%:*} --limit $(or $(LIMIT),$${part#*:}) --repeats 2; \
	done

bench-kernel: $(VENV)/.installed-bench caches data
	$(BIN)/python -m bench.kernel --limit $(or $(LIMIT),600)

# ---------------------------------------------------------------- papers

papers: setup caches data
	$(BIN)/python -m papers

papers-full: setup caches data
	$(BIN)/python -m papers --full

# ---------------------------------------------------------------- documentation

docs-tables: setup
	$(BIN)/python docs/tables.py

docs-online: setup caches
	PYTHONPATH=. $(BIN)/python docs/online_figures.py

# ---------------------------------------------------------------- tidy

clean:
	rm -rf .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find $(PYTHON_FOLDERS) -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) $(VENV_OLDEST)
