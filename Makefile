# Two commands do all set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# The phone screen's four questions.
DEMO := pick-device constant-that-stays first-autocast-step loop-that-waits

.PHONY: help install demo test lint bench fuzz gpu-check picture questions clean

help:
	@echo "make demo   set up, grade the shipped solutions of four questions, say where the report is"
	@echo "make test   set up, check style and types, run all tests"
	@echo "make questions  write docs/questions.md anew"
	@echo "make picture  take the README's pictures anew"
	@echo "make bench  measure what grading costs beside importing torch"
	@echo "make fuzz   throw hostile frames at the judge's reader for five minutes"
	@echo "make gpu-check  compare the virtual accelerator with a real CUDA device, where there is one"
	@echo "make clean  remove the virtual environment and what the demo wrote"

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

# A wrong solution is graded as wrong, so the command ends with 1: that is what is to be shown, and no failure here.
demo: install
	mkdir -p demo
	@echo "grading the shipped solutions of $(DEMO)"
	@$(BIN)/proctorch grade $(sort $(wildcard $(DEMO:%=solutions/*/%/*/*.py))) -o demo/results.json -o demo/report.html >demo/transcript.txt \
		|| test $$? -eq 1
	@tail -n 1 demo/transcript.txt
	@echo "The report: $(CURDIR)/demo/report.html"
	@echo "The same in plain text: $(CURDIR)/demo/transcript.txt"

test: install lint
	$(BIN)/python -m pytest
	$(BIN)/python -m pytest tests/virtual

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: install
	$(BIN)/python benchmarks/grading.py

# The tests do the same for seconds.
fuzz: install
	$(BIN)/python benchmarks/fuzz_wire.py 300

# Without a real CUDA device this says so, and is done.
gpu-check: install
	$(BIN)/python benchmarks/gpu_check.py

questions: install
	$(BIN)/proctorch list --write docs/questions.md

# The README's picture: a report as headless Chromium shows it.
picture: install
	mkdir -p demo
	sed '/^#/d' solutions/mixed-precision/first-autocast-step/partial/backward_in_autocast.py >demo/first_autocast_step.py
	cd demo && ../$(BIN)/proctorch grade first_autocast_step.py --device cpu -o picture.html >/dev/null || test $$? -eq 1
	chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --user-data-dir=$$(mktemp -d) --hide-scrollbars \
		--window-size=900,1640 --screenshot=docs/report.png demo/picture.html
	$(BIN)/python docs/sheet_picture.py

clean:
	rm -rf $(VENV) demo
