# leobench: build, demonstrate, test. `make` alone says whether this machine has what it takes.

# The first Python that is recent enough, unless PYTHON names one.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
DEMO := results/demo

# One interpreter everywhere: PyO3 rebuilds whenever it changes.
export PYO3_PYTHON := $(BIN)/python

# Tests start some thousand interpreters: without its bytecode, each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml

.PHONY: preflight install demo playground test test-slow format lint reference gallery site fits bench bench-baseline bench-playground instructions wheel clean
.DEFAULT_GOAL := preflight

preflight:
	@.ci/preflight "$(PYTHON)"
	@echo "Ready. Next: make demo (3 to 8 minutes the first time), make test, make bench."

# The virtual environment, with everything pinned.
$(VENV)/.requirements: requirements.lock
	@.ci/preflight "$(PYTHON)" >/dev/null || .ci/preflight "$(PYTHON)"
	@echo "Installing the pinned Python packages into .venv: about a minute."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@touch $@

# The compiled core, with the package linked into the environment (an edit of Python takes effect at once). Without link-time
# optimisation it would take 190 instead of 310 s of processor time to build, and runs would take a fifth longer.
$(VENV)/.core: $(VENV)/.requirements $(RUST)
	@echo "Building leobench's core (Rust): 3 to 8 minutes the first time, less after a change. Cargo names each crate as it compiles it."
	VIRTUAL_ENV=$(VENV) $(BIN)/maturin develop --profile release
	@touch $@

install: $(VENV)/.core

demo: install
	$(BIN)/leobench run scenarios/ka.toml --out $(DEMO) --force
	$(BIN)/leobench plot $(DEMO) --out $(DEMO)/timeline.png
	@echo "Tables, summary and figure: $(DEMO)/   Figure: $(DEMO)/timeline.png"

# The engine as WebAssembly in one page; adds the Rust target for it.
playground: $(VENV)/.requirements
	$(BIN)/python tools/playground.py

# Tests in real time mostly wait, so more of them than processors run at a time. Those that judge times run alone.
test: install
	cargo test
	$(PYTEST) --numprocesses logical --maxprocesses 8 --dist worksteal -m "not slow and not real_time and not alone"
	$(PYTEST) tests/emulation --numprocesses 4 --dist worksteal -m "not slow and real_time and not alone"
	$(PYTEST) tests/emulation -m "not slow and alone"

test-slow: install
	cargo test --release -- --ignored
	$(PYTEST) -m slow

# All files by name: cargo fmt does not find the modules that the registries declare.
format: $(VENV)/.requirements
	rustfmt $(filter %.rs,$(RUST))
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lint: $(VENV)/.requirements
	rustfmt --check $(filter %.rs,$(RUST))
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --package leobench-playground -- -D warnings
	cargo clippy --package leobench-py --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/doc_comments.py crates python tests tools benchmarks
	$(BIN)/mypy

# The pages of docs/reference that are generated from the code.
reference: install
	$(BIN)/python -m tools.reference

# The figures of the guide that take up to MINUTES, and the page that shows all with their commands.
MINUTES ?= 1
# The fits of Starlink that ship, from the published recordings in the folder DATA.
fits: install
	@test -n "$(DATA)" || { echo "make fits: name the folder with the recordings: DATA=..."; exit 2; }
	$(BIN)/python -m tools.starlink_fits $(DATA) results/fits

gallery: install
	$(BIN)/python tools/gallery.py --minutes $(MINUTES)

# The guide as a searchable site in site/. Its generator has an environment of its own.
SITE := $(CURDIR)/.venv-site
$(SITE)/.requirements: requirements-site.lock
	test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements-site.lock
	@touch $@

site: $(SITE)/.requirements
	$(SITE)/bin/zensical build --clean --strict
	@test ! -e target/playground/index.html || install -D -m 644 target/playground/index.html site/playground/index.html
	@echo "Built. Look at it: $(SITE)/bin/zensical serve"

# Exits with an error if a ratio is beyond the tolerance of benchmarks/ratios.json.
bench: install
	cargo build --profile fast -p leobench-bench
	$(BIN)/python benchmarks/ratios.py target/fast/leobench-bench
	$(BIN)/python benchmarks/emulation.py target/fast/leobench-bench

# Runs of the playground in headless Chromium.
bench-playground: playground
	$(BIN)/python benchmarks/playground.py target/playground/index.html

# Stores the ratios of this machine, which should be quiet, as those to compare with.
bench-baseline: $(VENV)/.requirements
	cargo build --profile fast -p leobench-bench
	$(BIN)/python benchmarks/ratios.py --write target/fast/leobench-bench

# Instructions per packet by the number of flows; needs valgrind.
instructions: $(VENV)/.requirements
	cargo run --profile fast -p leobench-bench instructions

# The wheel as it is published, in dist/: about ten minutes.
wheel: $(VENV)/.requirements
	$(BIN)/maturin build --locked --out dist

clean:
	cargo clean
	rm -rf $(VENV) $(SITE) site python/leobench/_core*.so .mypy_cache .pytest_cache .ruff_cache
