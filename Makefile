# Every target starts from nothing: it makes .venv, installs what it needs, and does no work twice.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find native -type f)

# Compiled bytecode keeps `import mercer` quick, whatever the surrounding environment says.
unexport PYTHONDONTWRITEBYTECODE
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-slow torture sanitize mutation coverage browser lint format bench docs wheels clean FORCE

demo: $(VENV)/.mercer
	@$(BIN)/mercer demo $(ARGS)

test: $(VENV)/.dev $(VENV)/.browser
	@$(BIN)/python -m pytest -n auto -q

test-slow: $(VENV)/.dev $(VENV)/.browser
	@MERCER_TEST_LENGTH=long $(BIN)/python -m pytest -n auto -q

browser: $(VENV)/.browser
	@MERCER_TEST_LENGTH=long $(BIN)/python -m pytest -q tests/browser

# Damaged files, tampered models, killed processes, extreme numbers: the long forms, as a table in build/torture.md.
torture: $(VENV)/.dev
	@cd tests && ../$(BIN)/python -m torture $(LAYERS)

# The compiled core with AddressSanitizer and UBSan: tests, then fuzzers. PARTS names some of them.
sanitize: $(VENV)/.dev $(VENV)/.clang
	@cd tests && MERCER_TEST_LENGTH=long ../$(BIN)/python -m sanitize $(PARTS)

# Small faults in the source, one at a time, that the tests must notice: the scores of stats, _numeric and io.
mutation: $(VENV)/.dev
	@cd tests && ../$(BIN)/python -m mutation $(ARGS)

# The lines of src/ that the tests reach, in processes that they start too; below 95 % is a failure.
coverage: $(VENV)/.dev
	@rm -f build/coverage.data* && mkdir -p build
	@$(BIN)/python -m coverage run -m pytest -q -n auto
	@$(BIN)/python -m coverage combine -q
	@$(BIN)/python -m coverage report --skip-covered --sort=cover

lint: $(VENV)/.dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

bench: $(VENV)/.bench
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@$(BIN)/python docs/_checks.py docs/_build/html
	@echo "open docs/_build/html/index.html"

# A source distribution, and wheels that were installed and tried in fresh environments. PYTHONS=python3.11,python3.12
wheels: $(VENV)/.wheels
	@rm -rf dist
	@$(BIN)/python .ci/wheels.py $(if $(PYTHONS),--pythons $(PYTHONS))

clean:
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/api

$(BIN)/python:
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.build: $(BIN)/python constraints.txt
	@$(PIP) install -c constraints.txt scikit-build-core nanobind setuptools wheel
	@touch $@

# The names of all Python files. The stamp changes when a file is added, moved or deleted.
$(VENV)/.modules: FORCE | $(BIN)/python
	@find src/mercer -name '*.py' | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Edits of Python files are live (editable install). A new set of files, a change of the compiled core or of the metadata
# installs again: the import hook of an editable install knows the files that were there when it was made.
$(VENV)/.mercer: $(VENV)/.build $(VENV)/.modules pyproject.toml $(NATIVE)
	@echo "installing mercer"
	@$(PIP) install -c constraints.txt --no-build-isolation -e .
	@touch $@

$(VENV)/.dev $(VENV)/.docs $(VENV)/.bench $(VENV)/.wheels: $(VENV)/.%: pyproject.toml constraints.txt | $(VENV)/.mercer
	@echo "installing the $* tools"
	@$(PIP) install -c constraints.txt --no-build-isolation -e ".[$*]"
	@touch $@

AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo -n)
APT     := $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq -y

# What the fuzzers of native/fuzz/ need. Where clang cannot be had, `make sanitize` says so.
$(VENV)/.clang: | $(VENV)/.dev
	@command -v clang++ clang++-14 > /dev/null || { $(APT) update && $(APT) install clang libclang-rt-14-dev; } > /dev/null || true
	@touch $@

# What the tests of the report need: Playwright, Debian's chromium, and axe-core in a folder of .venv. Where the browser
# cannot be had, these tests are skipped and say why; with CI=true they fail.
$(VENV)/.browser: pyproject.toml constraints.txt | $(VENV)/.dev
	@echo "installing the browser tools"
	@$(PIP) install -c constraints.txt --no-build-isolation -e ".[browser]"
	@test -x /usr/bin/chromium || { $(APT) update && $(APT) install chromium; } > /dev/null || echo "chromium is not installed"
	@command -v npm > /dev/null || { $(APT) update && $(APT) install npm; } > /dev/null || echo "npm is not installed"
	@npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/browser axe-core@4.14.0 || echo "axe-core is not installed"
	@touch $@
