# The two commands of the README are `make quickstart` and `make test`. Each sets up what it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash

# uv does not look for interpreters under pyenv; the newest 3.13 there is taken, if there is one.
PYENV_313 := $(lastword $(sort $(wildcard $(shell pyenv root 2>/dev/null)/versions/3.13*/bin)))
ifneq ($(PYENV_313),)
export PATH := $(PYENV_313):$(PATH)
export UV_PYTHON ?= $(PYENV_313)/python3.13
endif
export UV_PYTHON_DOWNLOADS ?= never
# The tests start some hundred interpreters. Where the environment forbids bytecode, each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
UV := $(shell uv --version >/dev/null 2>&1 && command -v uv || echo .tools/$(SCRIPTS)/uv)
BIN := .venv/$(SCRIPTS)
STORE ?= .quickstart/memory.db

.PHONY: clients integrations clients-check screenshots mutants-sample help quickstart test smoke cover mutants check format docs bench bench-peers eval conformance bench-engine dist dist-check release-check infra-check live store func constraints clean acceptance

help:  ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

quickstart: .venv/.run  ## Sample conversations become memories, then answer questions (FILE=my.jsonl, ASK="…" for your own)
	@$(BIN)/agent-memory quickstart $(FILE) --store $(if $(FILE),.quickstart/$(basename $(notdir $(FILE))).db,$(STORE)) $(if $(ASK),--ask "$(ASK)") $(ARGS)

# A third process on two cores: some tests wait, for a clock or another process. One that has no more takes from others.
WORKERS ?= 3
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal

test: .venv/.dev  ## The test suite, without the acceptance tests
	$(PYTEST) -m "not acceptance" $(ARGS)

# Only the files with such tests: to collect all the others takes as long as some of them.
acceptance: .venv/.dev  ## The acceptance tests: documented commands, samples, wheels, the function app, processes that die
	$(PYTEST) -m acceptance $(or $(ARGS),$(shell grep -rlE '\bpytest\.mark\.acceptance\b' tests sdk tools --include='test_*.py'))

SMOKE := tests/text/test_folding.py tests/text/test_patterns.py tests/screening/test_trust.py tests/rules tests/store/test_turns.py tests/store/test_memories.py \
	tests/steps/test_reconcile_candidates.py tests/recall/test_context.py tests/unit/test_due.py

smoke: .venv/.dev  ## A part of the tests that takes half a minute: writing, rules, steps and contexts
	$(PYTEST) $(SMOKE) $(ARGS)

cover: .venv/.dev  ## Both, with a floor for the share of lines that it runs; records which test runs which
	$(PYTEST) --cov --cov-context=test --cov-report= --junitxml=.coverage-times.xml $(ARGS)
	$(BIN)/coverage report

mutants: .venv/.dev  ## Breaks the code in one place at a time: what no test notices (after `make cover`)
	$(BIN)/python tools/mutants.py $(ARGS)

mutants-sample: .venv/.dev  ## The same for a sample of one room, within two minutes
	$(PYTEST) --cov --cov-context=test --cov-report= --junitxml=.coverage-times.xml --cov-fail-under=0 tests/rules tests/screening
	$(BIN)/python tools/mutants.py --rooms rules,screening --seconds 50

check: .venv/.dev  ## Lint, format, types, import contracts, generated code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/generate_sync.py --check
	$(BIN)/python tools/generate_containers.py --check
	$(BIN)/python tools/generate_typescript.py --check

format: .venv/.dev  ## Format and regenerate
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tools/generate_sync.py
	$(BIN)/python tools/generate_containers.py
	$(BIN)/python tools/generate_typescript.py

screenshots: .venv/.dev  ## The pictures of the explorer in docs/images anew, from the browser test (needs Chromium)
	EXPLORER_SCREENSHOTS=.cache/screenshots $(BIN)/pytest -n 0 tests/explorer/test_browser.py -k fits
	for file in docs/images/explorer-*.png; do cp .cache/screenshots/$$(basename $$file) $$file || exit 1; done

docs: .venv/.dev  ## The documentation site, in site/; a broken link is an error (ARGS=--dirty for a quick look)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict $(ARGS)
	@echo site/index.html

bench: .venv/.dev  ## What the main calls, recall, the HTTP API and processing cost on this machine
	for part in imports local recall api pipeline; do $(BIN)/python benchmarks/$$part.py || exit 1; done

bench-peers: .venv/.dev  ## Search beside the closest peer's, through one server (ARGS="--memories 500" for a quick one)
	$(UV) venv --quiet --allow-existing --python $(BIN)/python .integrations/peers
	$(UV) pip install --quiet --python .integrations/peers/$(SCRIPTS)/python -e sdk/embedded_cosmos -e ".[local]" "azure-cosmos-agent-memory==0.3.0b2"
	.integrations/peers/$(SCRIPTS)/python benchmarks/peers.py $(ARGS)

eval: .venv/.dev  ## Recall on conversations with known answers (DATA=FILE), beside baselines
	$(BIN)/agent-memory eval $(DATA) $(ARGS)

bench-engine: .venv/.dev  ## What the embedded engine costs, beside the SDK and plain SQLite
	$(BIN)/python sdk/embedded_cosmos/benchmarks/engine.py $(ARGS)

conformance: .venv/.dev  ## Microsoft's own azure-cosmos tests, and the JavaScript client, against the engine's server
	UV="$(UV)" $(BIN)/python sdk/embedded_cosmos/conformance/conformance.py $(ARGS)

dist: .venv/.dev  ## Wheels and source distributions of the library and the engine, in dist/
	rm -rf dist
	"$(UV)" build --quiet --out-dir dist .
	"$(UV)" build --quiet --out-dir dist sdk/embedded_cosmos
	@ls dist

dist-check: dist  ## The wheels, installed with pip alone for each Python from 3.11 that is here
	DIST_CHECK=1 $(BIN)/pytest tests/test_wheel.py $(ARGS)

# LiteLLM holds openai below 3, which the other tests run with.
clients-check: .venv/.dev  ## The adapters of models with LiteLLM and with the oldest clients that they allow
	"$(UV)" run --quiet --isolated --no-project --python "$(BIN)/python" --with-editable sdk/embedded_cosmos \
		--with-editable '.[anthropic,google,litellm,local,openai]' --with 'openai==2.25.*,anthropic==1.0.*,google-genai==2.0.*' \
		--with pytest,pytest-httpserver,anyio python -m pytest -W ignore tests/unit/test_language_litellm.py \
		tests/unit/test_language_dialects.py tests/unit/test_language_openai_chat.py tests/unit/test_language_openai_embeddings.py $(ARGS)

clients: .venv/.dev clients/typescript/node_modules/.package-lock.json  ## The TypeScript client: built, type-checked, run against a server (needs Node)
	npm --prefix clients/typescript run build
	npm --prefix clients/typescript test

clients/typescript/node_modules/.package-lock.json: clients/typescript/package-lock.json
	npm --prefix clients/typescript ci --no-audit --no-fund
	@touch $@

integrations: .venv/.dev  ## Each adapter with its real framework, in an environment of its own (ARGS=langchain for one)
	$(BIN)/python tools/integrations.py --uv "$(UV)" $(ARGS)

release-check: .venv/.dev  ## Whether TAG=v1.2.3 is the version of the packages and of the changelog
	$(BIN)/python tools/release_check.py $(TAG)

infra-check: .venv/.dev  ## The templates, worked out and checked without Azure; the package built and loaded
	$(BIN)/python -m infra_check --package

live: .venv/.dev  ## The contract suite on COSMOS_ENDPOINT; without it, on the embedded engine over HTTPS
	$(BIN)/python tools/live.py $(ARGS)

constraints: .venv/.dev  ## The versions that the deployed function app gets, in constraints.txt: those of uv.lock, and of telemetry
	mkdir -p .cache
	$(UV) export --frozen --quiet --no-dev --extra functions --no-emit-project --no-hashes --no-annotate --no-header | grep -v ^opentelemetry > .cache/locked.txt
	grep -v ^-c requirements.txt | $(UV) pip compile - --quiet --constraints .cache/locked.txt --python-version 3.13 --python-platform x86_64-manylinux_2_28 --no-emit-package durable-agent-memory --no-annotate --no-header --output-file constraints.txt

store: .venv/.dev  ## The database and its containers, in the account that local.settings.json names
	$(BIN)/python -m functions_host --make-store $(ARGS)

func: .venv/.dev  ## The function app with its change feed, on this machine alone
	$(BIN)/python -m functions_host --store .func/memory.db $(ARGS)

clean:  ## Remove the environment and the quickstart's store
	rm -rf .venv .tools .quickstart site

.venv/.run: pyproject.toml uv.lock | $(UV)
	$(UV) sync --locked --inexact --no-default-groups --extra local --extra cli --extra server
	@touch $@

.venv/.dev: pyproject.toml uv.lock | $(UV)
	$(UV) sync --locked
	@touch $@ .venv/.run

.tools/$(SCRIPTS)/uv:
	python3 -m venv .tools
	.tools/$(SCRIPTS)/pip install --quiet --disable-pip-version-check uv==0.13.9
