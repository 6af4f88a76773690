# Needs python3 (3.11 or newer) and make, nothing else; each target installs
# what it uses on first call. Names are relative, so a path may hold spaces.

PYTHON ?= python3
PORT   ?= 8000
ARGS   ?=
PY     := .venv/bin/python
STAMP  := .venv/.installed

.PHONY: help book course test serve sync bench clean distclean

help:
	@echo "make book        build the book, running what changed: _build/html/index.html"
	@echo "make course      write course/: notebooks for students and teacher, quiz, slides, guide"
	@echo "make test        lint and run the tests (ARGS='-k name' selects)"
	@echo "make serve       show the built book on http://127.0.0.1:$(PORT) (PORT=8000)"
	@echo "make sync        make notebooks/NAME.ipynb agree with NAME.py, redraw the README picture"
	@echo "make bench       time testbed, bootstrap, graph and logs, score the reply judge"
	@echo "make clean       remove the book, rerun/, course/, every cache and every compiled file"
	@echo "make distclean   the same, and .venv"

# The stamp comes last: an installation that failed is tried again.
$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --disable-pip-version-check --quiet -r requirements.txt
	@touch $@

# _build goes first, so that a page that left the book leaves the folder too: every
# page is written anew, from outputs kept in .chapters where what made them is the same.
book: $(STAMP)
	rm -rf _build
	.venv/bin/jupyter-book build . --all -n -W --keep-going

course: $(STAMP)
	$(PY) book/_ext/handouts.py . course

test: $(STAMP)
	$(PY) -m ruff check
	$(PY) -m pytest -n 2 --dist loadgroup $(ARGS)

serve: $(STAMP)
	@test -e _build/html/index.html || $(MAKE) book
	@$(PY) book/_ext/serve.py _build/html "$(PORT)"

sync: $(STAMP)
	$(PY) book/_ext/pairs.py notebooks
	$(PY) book/_ext/picture.py book/_static/recall.svg

bench: $(STAMP)
	$(PY) bench/desk.py
	$(PY) bench/bootstrap.py
	$(PY) bench/graph.py
	$(PY) bench/formats.py
	$(PY) bench/reply.py none jaccard

clean:
	rm -rf _build .chapters course .pytest_cache .hypothesis .ruff_cache .jupyter_cache dist rerun
	find . -path ./.venv -prune -o -type d \
	    \( -name __pycache__ -o -name .ipynb_checkpoints -o -name .jupyter_cache \) \
	    -exec rm -rf {} +

distclean: clean
	rm -rf .venv
