# Everything on a machine that has Python 3.11 or newer with venv and pip, and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Locks list every package with the hashes of its files, so that pip needs no other and refuses one that was changed.
PIP := -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --no-deps --require-hashes -r
# torch comes without a hash, in a step of its own: machines without a GPU have a build for CPUs with other files than the
# package index. It goes after the lock, so that only torch itself and the libraries of its build are not checked.
TORCH := torch==2.13.0

# Python keeps what it has compiled, even where the environment says otherwise: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

DEFAULT := not slow and not llm and not gpu and not browser and not integrations and not study and not site and not cluster

.PHONY: demo test lint unit test-slow test-integrations test-generators test-rl test-cluster test-llm test-gpu test-browser test-site test-study torture soak coverage mutants bench bench-cores evidence docs notebooks figures screenshots proofs \
	package locks hooks clean

# A tour of one screen, in under a minute after the installation; the files are in demo.
demo: $(READY)
	@$(BIN)/python examples/demo.py demo

# Both at once: mypy takes one core only.
test: $(READY)
	$(MAKE) --jobs=2 lint unit

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

unit: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal -m "$(DEFAULT)"

# Property tests are run again with all their examples.
test-slow: $(READY)
	$(BIN)/pytest -n 2 -m "(slow or hypothesis and $(DEFAULT)) and not llm and not torture and not integrations" \
		--hypothesis-profile=thorough

# Builds and installs the package into a clean environment, and uses it from other people's tools; needs a package index.
test-integrations: .venv-integrations/.ready
	.venv-integrations/bin/pytest -m integrations tests/integrations tests/docs tests/test_install.py

# Generators of others, in an environment of their own; one answers by SWI-Prolog: Debian's and Ubuntu's own, elsewhere install it first.
test-generators: .venv-generators/.ready
	command -v swipl || { apt-get update && apt-get install --yes swi-prolog-nox; }
	.venv-generators/bin/pytest -m integrations tests/integrations/test_public_generators.py

# The same for tools of reinforcement learning, in an environment of their own.
test-rl: .venv-rl/.ready
	.venv-rl/bin/pytest -m integrations tests/integrations/test_finetune.py tests/integrations/test_reasoning_gym.py tests/integrations/test_same_scores.py \
		tests/integrations/test_trl.py tests/integrations/test_verifiers.py

# Ray with several workers, of which some are killed, and servers of S3 and Google Cloud Storage, in an environment of their own.
test-cluster: .venv-cluster/.ready
	.venv-cluster/bin/pytest -m cluster tests/cluster

# Kills, hostile servers, damaged files, full disks; prints what was tried and what failed.
torture: $(READY)
	$(BIN)/pytest -n 2 -m torture tests/torture

# All of that together for SOAK_MINUTES at load 8; prints counts, memory, open files and what is left over. Linux only.
SOAK_MINUTES ?= 30
soak: $(READY)
	$(BIN)/python -m tests.torture.soak --minutes $(SOAK_MINUTES)

# Engines that take gigabytes have an environment of their own; torch's companions break vLLM on a CPU.
test-llm: .venv-llm/.ready
	.venv-llm/bin/pytest -m llm tests/solvers

# For a machine with an NVIDIA GPU.
test-gpu: $(READY)
	$(BIN)/pytest -m gpu tests/solvers

# Debian's and Ubuntu's own browser; elsewhere install chromium first.
test-browser: $(READY)
	command -v chromium || { apt-get update && apt-get install --yes chromium fonts-dejavu-core; }
	$(BIN)/pytest -m "browser and not site" tests/browser

# Builds the site, follows its links, and opens every page in chromium.
test-site: .venv-docs/.ready
	command -v chromium || { apt-get update && apt-get install --yes chromium fonts-dejavu-core; }
	.venv-docs/bin/pytest -m site tests/browser/test_site.py

# Studies with many participants, killed servers and a real PostgreSQL: Debian's and Ubuntu's own; elsewhere install it first.
test-study: $(READY) .venv-tools/.ready
	command -v initdb || ls /usr/lib/postgresql/*/bin/initdb || { apt-get update && apt-get install --yes postgresql; }
	$(BIN)/pytest -m study --hypothesis-profile=thorough tests/study

# Branches of src/storyproof that the default run takes.
coverage: $(READY)
	rm -f .coverage .coverage.*
	$(BIN)/pytest -n 2 --dist worksteal -m "$(DEFAULT)" --cov --cov-report=term

# Changes functions that labels rest on in copies of the tree, and writes which changes no test noticed to docs/mutants.toml.
# MUTANTS="--only kinship/oracle" measures one module, "--minutes 30" stops in time; what has not changed is not measured again.
mutants: $(READY) .venv-tools/.ready
	.venv-tools/bin/python -m tests.mutants --python $(BIN)/python $(MUTANTS)

# Measures speed, stores the figures in docs/figures and writes them into the pages; needs a quiet machine. Without
# .venv-integrations (make test-integrations), other harnesses are left out.
bench: $(READY)
	$(BIN)/python -m docs.figures --speed

# Counts wrong answers and proofs in everything that is generated, read back from the text; an hour of CPU. What is done
# is kept in build/evidence.jsonl: delete it after a change of the code. EVIDENCE="--only NAME … --workers 2"
evidence: $(READY)
	mkdir -p build
	PYTHONPATH=src $(BIN)/python -m benchmarks.evidence --keep build/evidence.jsonl $(EVIDENCE)

# Rate and efficiency of generate, verify and audit with 1, 2 and as many workers as there are cores; eight minutes on 16 cores.
bench-cores: $(READY)
	PYTHONPATH=src $(BIN)/python -m benchmarks.cores

# Writes the pages that follow from the code, and builds the site from all pages: open build/site/index.html.
docs: .venv-docs/.ready
	.venv-docs/bin/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict --quiet
	@echo "The site is $(CURDIR)/build/site/index.html."

# Runs the notebooks of the docs again and stores what they print.
notebooks: .venv-integrations/.ready
	.venv-integrations/bin/python -m docs.notebooks.run

# Proves all patterns of clean kinship chains (five minutes) and writes the file that ships with storyproof; needed
# whenever the rules, the oracle or the checker of kinship change.
proofs: $(READY)
	$(BIN)/python -m storyproof.families.kinship.generation.make_proof_file

# Redraws the plots of the experiments from their results, runs the commands that the figures of the docs come from, stores
# what they give in docs/figures and updates the pages. PUBLISHED=DIR names published data; figures about them are skipped
# without it. FIGURES="NAME …" runs some only.
figures: $(READY)
	$(BIN)/python -m docs.plots
	$(BIN)/python -m docs.figures $(if $(PUBLISHED),--published $(PUBLISHED)) $(FIGURES)

# Takes the screenshots of the docs again; needs chromium.
screenshots: $(READY)
	$(BIN)/python -m docs.screenshots

# Builds wheel and sdist, installs the wheel into an environment of its own and uses it.
package: .venv-tools/.ready
	rm -rf dist build/package
	.venv-tools/bin/python -m build --outdir dist .
	$(PYTHON) -m venv build/package
	build/package/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	build/package/bin/python tests/installed.py

# Writes the hashes of all packages in the locks, and adds packages that these need. To change a version, edit its line first.
locks: .venv-tools/.ready
	for lock in requirements*.lock; do \
		version=3.11.5; test $$lock != requirements-generators.lock || version=3.12; \
		.venv-tools/bin/uv pip compile --quiet --universal --python-version $$version --generate-hashes --no-header --no-annotate \
			--output-file $$lock $$lock || exit 1; \
	done

# Runs the checks of `make lint` before each commit.
hooks: $(READY) .venv-tools/.ready
	.venv-tools/bin/pre-commit install

clean:
	rm -rf .venv .venv-cluster .venv-docs .venv-generators .venv-integrations .venv-llm .venv-rl .venv-tools build dist .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# Installing again is a matter of touching the lock.
$(READY): requirements.lock pyproject.toml examples/orderings/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python $(LOCKED) requirements.lock
	$(BIN)/python $(PIP) $(TORCH)
	$(BIN)/python $(PIP) --no-deps --no-build-isolation -e . -e examples/orderings
	touch $(READY)

.venv-docs/.ready: requirements-docs.lock pyproject.toml
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python $(LOCKED) requirements-docs.lock
	.venv-docs/bin/python $(PIP) --no-deps --no-build-isolation -e .
	touch .venv-docs/.ready

# phantom-wiki asks for Python 3.12, and runs with 3.11.
.venv-generators/.ready: requirements-generators.lock pyproject.toml
	test -x .venv-generators/bin/python || $(PYTHON) -m venv .venv-generators
	PIP_IGNORE_REQUIRES_PYTHON=1 .venv-generators/bin/python $(LOCKED) requirements-generators.lock
	.venv-generators/bin/python $(PIP) --no-deps --no-build-isolation -e .
	touch .venv-generators/.ready

.venv-rl/.ready: requirements-rl.lock pyproject.toml examples/orderings/pyproject.toml
	test -x .venv-rl/bin/python || $(PYTHON) -m venv .venv-rl
	.venv-rl/bin/python $(LOCKED) requirements-rl.lock
	.venv-rl/bin/python $(PIP) $(TORCH)
	.venv-rl/bin/python $(PIP) --no-deps --no-build-isolation -e . -e examples/orderings
	touch .venv-rl/.ready

.venv-cluster/.ready: requirements-ray.lock pyproject.toml examples/orderings/pyproject.toml
	test -x .venv-cluster/bin/python || $(PYTHON) -m venv .venv-cluster
	.venv-cluster/bin/python $(LOCKED) requirements-ray.lock
	.venv-cluster/bin/python $(PIP) --no-deps --no-build-isolation -e . -e examples/orderings
	touch .venv-cluster/.ready

# The packages of requirements.lock, in versions that go together with those of other people's tools, and these.
.venv-integrations/.ready: requirements-integrations.lock pyproject.toml examples/orderings/pyproject.toml
	test -x .venv-integrations/bin/python || $(PYTHON) -m venv .venv-integrations
	.venv-integrations/bin/python $(LOCKED) requirements-integrations.lock
	.venv-integrations/bin/python $(PIP) $(TORCH)
	.venv-integrations/bin/python $(PIP) --no-deps --no-build-isolation -e . -e examples/orderings
	touch .venv-integrations/.ready

.venv-llm/.ready: requirements-llm.lock pyproject.toml
	test -x .venv-llm/bin/python || $(PYTHON) -m venv .venv-llm
	.venv-llm/bin/python $(LOCKED) requirements-llm.lock
	.venv-llm/bin/python $(PIP) $(TORCH)
	.venv-llm/bin/python $(PIP) --no-deps --no-build-isolation -e .
	touch .venv-llm/.ready

.venv-tools/.ready: requirements-tools.lock
	test -x .venv-tools/bin/python || $(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python $(LOCKED) requirements-tools.lock
	touch .venv-tools/.ready
