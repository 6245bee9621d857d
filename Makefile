# Every target sets itself up: Python 3.11 or later, make and git are enough. A second run does no set-up.
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$p; break; }; done)
UV_VERSION := 0.13.9
UV := .venv/bin/uv
BIN := .venv/bin
READY := .venv/.ready

export UV_PROJECT_ENVIRONMENT := .venv
export UV_PYTHON_DOWNLOADS := never
export PYTHONDONTWRITEBYTECODE := 1
# nothing but `make deploy` may ever reach a real account
export AWS_EC2_METADATA_DISABLED := true

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-real test check format lint types imports docs package synth deploy bench faults oracle e2e-build e2e e2e-matrix proof clean

help: ## what there is to make
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## the project's own environment, from uv.lock

$(READY): pyproject.toml uv.lock
	@test -n "$(PYTHON)" || { echo "driftgate needs Python 3.11 or later on the PATH (or PYTHON=/path/to/python3)"; exit 1; }
	@test -x $(UV) || { echo "Setting up .venv (once)"; $(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet uv==$(UV_VERSION); }
	@$(UV) sync --quiet --locked --all-extras --inexact
	@touch $@

demo: $(READY) ## roll one node of a simulated cluster, end to end, and watch it happen (OUTPUT=json for scripts)
	@$(BIN)/python -m infra.local.demo --output $(or $(OUTPUT),text)

demo-real: $(READY) ## a release, a recall and a promotion on a real Karpenter with its AWS provider (needs Go; OUTPUT=json)
	@$(BIN)/python -m tests.e2e.build >&2 etcd kube-apiserver kube-scheduler kube-controller-manager kubectl karpenter-aws oracle
	@$(BIN)/python -m tests.e2e.demo_real --output $(or $(OUTPUT),text)

test: $(READY) ## all tests that need nothing but Python
	@$(BIN)/python -m pytest -m "not e2e" -n 2 --dist worksteal

check: $(READY) lint types imports ## everything that has to hold before a change goes in
	@$(BIN)/python -m pytest -m "not e2e" -n 2 --dist worksteal --cov --cov-report=term:skip-covered

format: $(READY) ## put the code into its form
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: $(READY) ## form and rules of the code
	@$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: $(READY)
	@$(BIN)/mypy

imports: $(READY)
	@$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

package: $(READY) ## the functions' code and a plain CloudFormation template in dist/ (CONFIG=driftgate.yaml)
	@$(BIN)/python -m infra.packaging --config $(or $(CONFIG),driftgate.yaml)

synth: $(READY) ## the deployment's CloudFormation template for CDK, in cdk.out (CONFIG=driftgate.yaml)
	@$(BIN)/python -m infra.app --config $(or $(CONFIG),driftgate.yaml)

# the one target that may reach an account: the reader's own, with the reader's credentials
deploy: export AWS_EC2_METADATA_DISABLED := false
deploy: $(READY) ## what would change in AWS, and on your word the change (CONFIG=, REGION=, BUCKET=, YES=1)
	@$(BIN)/python -m infra.deploying --config $(or $(CONFIG),driftgate.yaml) $(if $(REGION),--region $(REGION)) \
		$(if $(BUCKET),--bucket $(BUCKET)) $(if $(YES),--yes)

bench: $(READY) ## decision time, report on 5,000 nodes, sign to closed, cold starts
	@$(BIN)/python -m tests.bench

faults: $(READY) ## a night with every outside call failing, dying or answering late, and what it came to
	@$(BIN)/python -m pytest tests/interleaving/test_faults.py

oracle: $(READY) ## a million budget questions to Karpenter's own code (needs Go)
	@$(BIN)/python -m tests.e2e.oracle --count 1000000

e2e-build: $(READY) ## build the real control plane and Karpenter from Go modules (needs Go; once)
	@$(BIN)/python -m tests.e2e.build

e2e: $(READY) e2e-build ## against a real API server, a real Karpenter and its own budget code (needs Go)
	@$(BIN)/python -m pytest -m "e2e and not matrix" -n 2 --dist loadfile --no-loadscope-reorder tests/e2e/test_roll_thirty.py tests/e2e tests/contract

e2e-matrix: $(READY) e2e-build ## the same on older Karpenters too, written down in docs/compatibility.md (needs Go)
	@$(BIN)/python -m tests.e2e.build --generations
	@$(BIN)/python -m tests.e2e.generations

proof: $(READY) e2e-build ## the same for rolls alone, written down in docs/proof.md (needs Go)
	@$(BIN)/python -m tests.e2e.proof

clean: ## remove what make made
	@rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage* build dist
