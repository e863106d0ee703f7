# Two commands: `make demo` and `make test`. Each does its own set-up, and does it once; `make help` lists the rest.
# SPDX-License-Identifier: MIT
.DEFAULT_GOAL := help
PYTHON3 ?= python3
BIN := .venv/bin
.PHONY: help wild planted corpus pictures demo docs reference examples changelog test test-all sid faults wheels seeds soak lab lint format bench sanitize system clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: ## five looks at real objects, then the first notebook run and written as a page
	@$(PYTHON3) .ci/system.py compiler
	@$(PYTHON3) .ci/ready.py demo
	@.venv-demo/bin/python -P notebooks/demo.py
	@.venv-demo/bin/python -P .ci/page.py notebooks/00_start.ipynb build/00_start.html

docs: ## the pages and the tutorials as a site, in build/site; no network is needed to read it
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/python -P .ci/reference.py
	@$(BIN)/python -P .ci/docs.py build/site

reference: ## what docs/reference says of verbs, magics, commands and JSON, from the sources; the JSON Schema
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/python -P .ci/reference.py

examples: ## the examples of README.md and docs, run; what they print is put into the pages
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/python -P .ci/examples.py --write

changelog: ## the fragments of docs/changes as a release in docs/CHANGELOG.md; VERSION=0.2.0
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/towncrier build --yes $(if $(VERSION),--version $(VERSION))

lab: ## the notebooks in JupyterLab
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/jupyter lab --ServerApp.root_dir='$(CURDIR)' --FileCheckpoints.checkpoint_dir='$(CURDIR)/build/checkpoints' --LabApp.default_url=/lab/tree/notebooks/00_start.ipynb $(if $(filter 0,$(shell id -u)),--allow-root)

test: ## five minutes: every room once on one Python, from the wheel; ARGS='-k refs' narrows it
	@$(PYTHON3) .ci/matrix.py --quick $(ARGS)

test-all: system ## all tests on Python 3.11 to 3.15, 3.14 and 3.15 in a chroot of Debian sid where they are not found; ONLY=3.11 and ARGS='-k refs' narrow it
	@$(PYTHON3) .ci/matrix.py $(if $(ONLY),--only $(ONLY)) $(ARGS)

sid: system ## the core tests on 3.14 and 3.15; in a chroot of Debian sid where they are not found: root, 0.7 GB
	@$(PYTHON3) .ci/matrix.py --only 3.14,3.15 $(ARGS)

wheels: ## the sdist and the wheels of every CPython for glibc and musl, checked and tried, into dist; ONLY="3.14 aarch64" builds those
	@$(PYTHON3) .ci/ready.py wheels
	@.venv-wheels/bin/python -P .ci/wheels.py $(ONLY)

seeds: system ## the tests of the host in Swift; where swiftc is missing a chroot is made for it: root, 3 GB
	@$(PYTHON3) .ci/seeds.py $(ARGS)

faults: system ## twenty faults, planted one after the other: whether `make test` finds each; ONLY=lazy plants one
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/python -P .ci/faults.py $(if $(ONLY),--only $(ONLY))

soak: system ## the same tests with their long counts: storms, kills, full subsets
	@INSPECTOR_SOAK=1 $(PYTHON3) .ci/matrix.py $(if $(ONLY),--only $(ONLY)) $(ARGS)

lint: ## what CI refuses: ruff, mypy --strict, clang-format, the rules of the house
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/ruff check --quiet --output-format concise .
	@$(BIN)/ruff format --quiet --check . || { echo "  do  make format"; exit 1; }
	@$(BIN)/clang-format --dry-run --Werror $$(git ls-files native | grep '\.[ch]$$') || { echo "  do  make format"; exit 1; }
	@mkdir -p build/typed/inspector
	@ln -sfn $(CURDIR)/inspector/* build/typed/inspector/ && ln -sfn $(CURDIR)/magics build/typed/inspector/magics
	@cd build/typed && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml -p inspector
	@$(BIN)/pytest -q tests/house -m "not slow and not libraries and not r"

format: ## let ruff and clang-format lay out the sources
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format . && $(BIN)/clang-format -i $$(git ls-files native | grep '\.[ch]$$')

bench: system ## speed and memory against the peers, into docs/benchmarks.md; ONLY=card renews one table
	@$(PYTHON3) .ci/bench.py $(if $(ONLY),--only $(ONLY))

wild: ## the finder of leaks on a hundred packages of others, into docs/wild.md; an hour, goes on where stopped; ONLY=ujson
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/python -P .ci/wild/rig.py $(if $(ONLY),--only $(ONLY))

planted: system ## faults planted into twelve packages: which are told, with which function, into docs/planted.md; ONLY=pyrsistent
	@$(PYTHON3) .ci/ready.py test
	@$(BIN)/python -P .ci/wild/planted/plant.py $(if $(ONLY),--only $(ONLY)) $(ARGS)

corpus: system ## the table of what a trace says of 573 operations, into docs/benchmarks.md
	@$(PYTHON3) .ci/trace_table.py corpus

coverage: system ## the table of how much a trace sees of fourteen libraries, into docs/benchmarks.md
	@$(PYTHON3) .ci/trace_table.py coverage

pictures: system # of the README, of the live views and of the screens in docs/reference/views.md; tests compare with them
	@$(PYTHON3) .ci/ready.py test
	@mkdir -p docs/pictures/views build
	@cd build && $(CURDIR)/$(BIN)/inspector show 'x' --script $(CURDIR)/notebooks/card.py --svg $(CURDIR)/docs/pictures/card.svg
	@INSPECTOR_PICTURES=1 $(BIN)/pytest -q tests/browser/test_views.py tests/browser/test_panel.py tests/screens

sanitize: system ## the core tests with the extension under ASan and UBSan, after two planted bugs
	@$(PYTHON3) .ci/sanitize.py $(ARGS)

system: # programs beside Python
	@$(PYTHON3) .ci/system.py

clean: ## back to what git has
	@rm -rf build dist .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis
