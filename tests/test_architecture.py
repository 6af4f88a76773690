"""The boundaries of the library, read off its source."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys

import pytest
from built import ROOT

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "tjlib").rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}

#: What every importer reads with, those of chat messages, and those of spans.
READING = [f"tjlib.{name}" for name in ("documents", "formats.fields", "formats.imported")]
CHATS = [*READING, "tjlib.formats.chat"]
SPANS = [*READING, "tjlib.formats.dialects", "tjlib.formats.spans"]

#: Which of our modules each may import, besides tjlib.trace; "*" is all of a package.
#: What is not here may import nothing else of ours. A new module gets a line.
ARROWS = {
    "tjlib": [],
    "tjlib.arguments": ["tjlib.desk.values"],
    "tjlib.badline": ["tjlib.release"],
    "tjlib.__main__": ["tjlib.commands", "tjlib.usage"],
    "tjlib.usage": ["tjlib.commands", "tjlib.formats.table", "tjlib.judges.plain",
                    "tjlib.logcommands"],
    "tjlib.chapter": [],
    "tjlib.charts": [],
    "tjlib.charts.*": ["tjlib.charts.*"],
    "tjlib.claims": [],
    "tjlib.claims.*": ["tjlib.claims.*", "tjlib.measure.*", "tjlib.desk.rules"],
    "tjlib.commands": ["*"],
    "tjlib.logcommands": ["*"],
    "tjlib.desk": [],
    "tjlib.desk.cases": [],
    "tjlib.desk.values": [],
    "tjlib.desk.world": ["tjlib.desk.cases"],
    "tjlib.desk.oracle": ["tjlib.desk.world"],
    "tjlib.desk.faults": ["tjlib.desk.world"],
    "tjlib.desk.morerules": ["tjlib.desk.rules"],
    "tjlib.desk.organic": ["tjlib.desk.rules", "tjlib.desk.world"],
    "tjlib.desk.rules": ["tjlib.desk.values", "tjlib.desk.world"],
    "tjlib.desk.shift": ["tjlib.desk.world"],
    "tjlib.desk.cascades": ["tjlib.desk.faults", "tjlib.desk.oracle", "tjlib.desk.shift",
                            "tjlib.desk.world"],
    "tjlib.desk.desks": ["tjlib.desk.world"],
    "tjlib.desk.otherbed": ["tjlib.desk.oracle", "tjlib.desk.testbed", "tjlib.desk.ways",
                            "tjlib.desk.world"],
    "tjlib.desk.ways": ["tjlib.desk.desks", "tjlib.desk.faults", "tjlib.desk.world"],
    "tjlib.desk.testbed": ["tjlib.desk.oracle", "tjlib.desk.faults", "tjlib.desk.world"],
    "tjlib.compact": [],
    "tjlib.containers": [],
    "tjlib.convert": ["tjlib.containers", "tjlib.documents", "tjlib.formats.*", "tjlib.jsonl"],
    "tjlib.documents": ["tjlib.containers", "tjlib.jsontext"],
    "tjlib.embedding": [],
    "tjlib.extract": ["tjlib.formats.imported", "tjlib.uncertainty.*"],
    "tjlib.features": ["tjlib.extract", "tjlib.jsonl", "tjlib.packaged", "tjlib.scoring",
                       "tjlib.uncertainty.*"],
    "tjlib.episodes": ["tjlib.desk.organic", "tjlib.desk.world", "tjlib.jsonl",
                       "tjlib.judges.agent", "tjlib.judges.pool", "tjlib.judges.protocol",
                       "tjlib.judges.runs", "tjlib.provenance"],
    "tjlib.engine": [],
    "tjlib.exercises": ["tjlib.exercises.*"],
    "tjlib.exercises.*": ["tjlib.claims.*", "tjlib.desk.*", "tjlib.exercises.*",
                          "tjlib.measure.*", "tjlib.store", "tjlib.uncertainty.*"],
    "tjlib.fetch": ["tjlib.release"],
    "tjlib.folds": ["tjlib.claims.trial", "tjlib.tables"],
    "tjlib.formats": [],
    "tjlib.formats.agentbench": CHATS,
    "tjlib.formats.agentdojo": CHATS,
    "tjlib.formats.anthropic": [*CHATS, "tjlib.formats.blocks"],
    "tjlib.formats.atif": CHATS,
    "tjlib.formats.blocks": ["tjlib.formats.chat", "tjlib.formats.fields"],
    "tjlib.formats.chat": [*READING, "tjlib.formats.linking", "tjlib.formats.tokens"],
    "tjlib.formats.claude_code": [*CHATS, "tjlib.formats.blocks"],
    "tjlib.formats.codex": [*READING, "tjlib.formats.items", "tjlib.formats.tokens"],
    "tjlib.formats.detect": ["tjlib.containers", "tjlib.documents", "tjlib.formats.imported"],
    "tjlib.formats.dialects": ["tjlib.formats.fields"],
    "tjlib.formats.fields": ["tjlib.documents", "tjlib.formats.imported"],
    "tjlib.formats.imported": [],
    "tjlib.formats.inspect_ai": [*CHATS, "tjlib.formats.scores", "tjlib.formats.tokens"],
    "tjlib.formats.items": [*CHATS, "tjlib.formats.tokens"],
    "tjlib.formats.linking": [],
    "tjlib.formats.join": ["tjlib.containers", "tjlib.formats.imported",
                           "tjlib.formats.sidecar"],
    "tjlib.formats.labels": ["tjlib.containers", "tjlib.documents", "tjlib.formats.detect",
                             "tjlib.formats.imported", "tjlib.formats.table"],
    "tjlib.formats.langsmith": [*SPANS, "tjlib.formats.tokens"],
    "tjlib.formats.magentic_one": [*READING, "tjlib.formats.speakers"],
    "tjlib.formats.managed_agents": [*CHATS, "tjlib.formats.blocks"],
    "tjlib.formats.mini_swe_agent": CHATS,
    "tjlib.formats.native": ["tjlib.badline", "tjlib.documents", "tjlib.formats.imported",
                             "tjlib.release"],
    "tjlib.formats.nemo_gym": [*READING, "tjlib.formats.items", "tjlib.formats.tokens"],
    "tjlib.formats.openai_chat": [*CHATS, "tjlib.formats.blocks", "tjlib.formats.tokens"],
    "tjlib.formats.openhands": CHATS,
    "tjlib.formats.otel": SPANS,
    "tjlib.formats.registry": ["tjlib.containers", "tjlib.documents", "tjlib.formats.*",
                               "tjlib.jsonl"],
    "tjlib.formats.scores": ["tjlib.formats.fields", "tjlib.formats.imported"],
    "tjlib.formats.sidecar": ["tjlib.formats.imported"],
    "tjlib.formats.smolagents_gaia": CHATS,
    "tjlib.formats.spans": CHATS,
    "tjlib.formats.speakers": ["tjlib.formats.chat", "tjlib.formats.imported"],
    "tjlib.formats.swe_agent": CHATS,
    "tjlib.formats.table": ["tjlib.formats.*"],
    "tjlib.formats.tau2": [*CHATS, "tjlib.formats.tau_bench", "tjlib.formats.tokens"],
    "tjlib.formats.tau_bench": CHATS,
    "tjlib.formats.tokens": ["tjlib.formats.fields", "tjlib.formats.imported"],
    "tjlib.formats.who_and_when": [*READING, "tjlib.formats.speakers"],
    "tjlib.jsonl": ["tjlib.badline", "tjlib.release"],
    "tjlib.jsontext": [],
    "tjlib.judged": ["tjlib.jsonl"],
    "tjlib.guided": [],
    "tjlib.guided.candidates": ["tjlib.desk.world", "tjlib.judges.agent", "tjlib.judges.answer",
                                "tjlib.judges.asked", "tjlib.judges.protocol",
                                "tjlib.judges.render", "tjlib.uncertainty.signals",
                                "tjlib.uncertainty.tracer"],
    "tjlib.guided.outcomes": ["tjlib.arguments", "tjlib.desk.*", "tjlib.guided.candidates",
                              "tjlib.guided.selectors", "tjlib.guided.tree"],
    "tjlib.guided.recording": ["tjlib.desk.world", "tjlib.guided.candidates",
                               "tjlib.guided.selectors", "tjlib.guided.tree", "tjlib.jsonl",
                               "tjlib.judges.protocol", "tjlib.judges.runs", "tjlib.provenance"],
    "tjlib.guided.selectors": ["tjlib.guided.candidates", "tjlib.uncertainty.*"],
    "tjlib.guided.simulated": ["tjlib.desk.*", "tjlib.guided.candidates",
                               "tjlib.guided.selectors", "tjlib.guided.tree"],
    "tjlib.guided.source": ["tjlib.desk.world", "tjlib.guided.recording", "tjlib.guided.tree",
                            "tjlib.provenance", "tjlib.store"],
    "tjlib.guided.tree": ["tjlib.desk.oracle", "tjlib.desk.world", "tjlib.guided.candidates",
                          "tjlib.guided.selectors", "tjlib.judges.agent"],
    "tjlib.judgeargs": ["*"],
    "tjlib.judges": [],
    "tjlib.judges.answer": ["tjlib.judges.protocol"],
    "tjlib.judges.fence": ["tjlib.judges.render"],
    "tjlib.judges.free": ["tjlib.desk.rules", "tjlib.judges.asked", "tjlib.judges.repeats",
                          *(f"tjlib.judges.{name}" for name in (
                              "entities", "evidence", "reply", "wording")),
                          *(f"tjlib.uncertainty.{name}" for name in (
                              "graph", "prefix", "signals", "text"))],
    "tjlib.judges.repeats": [f"tjlib.uncertainty.{name}" for name in (
        "graph", "parameters", "signals", "text")],
    "tjlib.judges.grounding": ["tjlib.judges.answer", "tjlib.judges.asked",
                               "tjlib.judges.evidence", "tjlib.judges.prompts",
                               "tjlib.judges.protocol", "tjlib.judges.render",
                               "tjlib.judges.reply", "tjlib.judges.wording"],
    "tjlib.judges.modelfree": [f"tjlib.judges.{name}" for name in (
        "asked", "entities", "evidence", "reply", "similarity", "wording")],
    "tjlib.judges.models": ["tjlib.judges.protocol"],
    "tjlib.judges.models_*": ["tjlib.judges.protocol", "tjlib.weights"],
    "tjlib.judges.panel": ["tjlib.desk.rules", "tjlib.judges.answer", "tjlib.judges.asked",
                           "tjlib.judges.procedure", "tjlib.judges.prompts",
                           "tjlib.judges.protocol"],
    "tjlib.judges.parts": [],
    "tjlib.judges.asked": ["tjlib.judges.protocol"],
    "tjlib.judges.plain": ["tjlib.desk.morerules", "tjlib.judges.asked"],
    "tjlib.judges.procedure": ["tjlib.desk.faults", "tjlib.desk.world"],
    "tjlib.judges.prompts": ["tjlib.judges.asked", "tjlib.judges.procedure",
                             "tjlib.judges.render"],
    "tjlib.judges.protocol": [],
    "tjlib.judges.render": [],
    "tjlib.judges.agent": ["tjlib.desk.world", "tjlib.judges.answer", "tjlib.judges.asked",
                           "tjlib.judges.prompts", "tjlib.judges.protocol",
                           "tjlib.judges.render"],
    "tjlib.judges.pool": [],
    "tjlib.judges.runs": ["tjlib.formats.imported", "tjlib.formats.registry", "tjlib.jsonl",
                          "tjlib.judges.pool", "tjlib.provenance"],
    "tjlib.kernels": [],
    "tjlib.judges.entities": ["tjlib.judges.wording"],
    "tjlib.judges.evidence": ["tjlib.judges.entities", "tjlib.judges.wording"],
    "tjlib.judges.reply": ["tjlib.judges.entities", "tjlib.judges.evidence",
                           "tjlib.judges.similarity", "tjlib.judges.wording"],
    "tjlib.judges.similarity": ["tjlib.embedding", "tjlib.judges.wording"],
    "tjlib.judges.wording": [],
    "tjlib.matching": ["tjlib.arguments", "tjlib.desk.values", "tjlib.formats.imported"],
    "tjlib.material": ["tjlib.extract", "tjlib.features", "tjlib.formats.imported",
                       "tjlib.formats.registry", "tjlib.scoring", "tjlib.uncertainty.*"],
    "tjlib.measure": [],
    "tjlib.measure.*": ["tjlib.measure.*"],
    "tjlib.packaged": [],
    "tjlib.page": [],
    "tjlib.procedures": ["tjlib.judges.procedure", "tjlib.judges.render", "tjlib.packaged"],
    "tjlib.provenance": [],
    "tjlib.release": [],
    "tjlib.ranktext": ["tjlib.compact", "tjlib.formats.imported"],
    "tjlib.runpage": [],
    "tjlib.runpage.lines": ["tjlib.charts.theme", "tjlib.uncertainty.layout",
                            "tjlib.uncertainty.propagate"],
    "tjlib.runpage.opened": ["tjlib.formats.imported", "tjlib.runpage.lines",
                             "tjlib.runpage.texts", "tjlib.uncertainty.*"],
    "tjlib.runpage.page": ["tjlib.charts.theme", "tjlib.containers", "tjlib.formats.imported",
                           "tjlib.formats.registry", "tjlib.runpage.*", "tjlib.scoring",
                           "tjlib.uncertainty.parameters", "tjlib.uncertainty.similarity"],
    "tjlib.runpage.summary": ["tjlib.formats.imported", "tjlib.measure.*", "tjlib.scoring"],
    "tjlib.runpage.texts": [],
    "tjlib.report": ["tjlib.measure.*"],
    "tjlib.rerun": ["tjlib.chapter", "tjlib.kernels", "tjlib.page"],
    "tjlib.scoring": ["tjlib.compact", "tjlib.engine", "tjlib.formats.imported",
                      "tjlib.measure.compare",
                      *(f"tjlib.uncertainty.{name}" for name in (
                          "crossfit", "evidence", "graph", "methods", "parameters", "signals"))],
    "tjlib.store": ["tjlib.fetch", "tjlib.formats.registry", "tjlib.jsonl", "tjlib.judged",
                    "tjlib.packaged", "tjlib.provenance", "tjlib.release"],
    "tjlib.sentences": ["tjlib.tables"],
    "tjlib.studies": [],
    "tjlib.studies.ablation": ["tjlib.uncertainty.*"],
    "tjlib.studies.across": ["tjlib.features", "tjlib.scoring"],
    "tjlib.studies.benchmark": ["tjlib.features", "tjlib.formats.registry", "tjlib.material",
                                "tjlib.scoring", "tjlib.uncertainty.*"],
    "tjlib.studies.bymodel": ["tjlib.compact", "tjlib.measure.*"],
    "tjlib.studies.cascading": ["tjlib.desk.cascades", "tjlib.measure.by_task",
                                "tjlib.measure.wins", "tjlib.uncertainty.*"],
    "tjlib.studies.driven": ["tjlib.provenance", "tjlib.release", "tjlib.store"],
    "tjlib.studies.freelogs": ["tjlib.features", "tjlib.formats.registry", "tjlib.judges.free",
                               "tjlib.judges.repeats", "tjlib.store"],
    "tjlib.studies.freeset": ["tjlib.desk.faults", "tjlib.desk.otherbed", "tjlib.desk.ways",
                              "tjlib.judges.free", "tjlib.judges.repeats", "tjlib.judges.reply",
                              "tjlib.store"],
    "tjlib.studies.improving": ["tjlib.features", "tjlib.formats.registry",
                                "tjlib.measure.ranking", "tjlib.uncertainty.*"],
    "tjlib.studies.live": ["tjlib.judges.models", "tjlib.judges.panel", "tjlib.judges.procedure",
                           "tjlib.judges.runs", "tjlib.store"],
    "tjlib.studies.oncases": ["tjlib.desk.rules", "tjlib.desk.testbed", "tjlib.features",
                              "tjlib.formats.imported", "tjlib.formats.registry",
                              "tjlib.judges.modelfree", "tjlib.scoring", "tjlib.store",
                              "tjlib.textscores", "tjlib.uncertainty.signals",
                              "tjlib.uncertainty.similarity"],
    "tjlib.studies.picktable": ["tjlib.tables"],
    "tjlib.studies.prefixes": [f"tjlib.uncertainty.{name}" for name in (
        "baselines", "evidence", "graph", "prefix", "propagate", "signals", "tracer")],
    "tjlib.studies.promptview": ["tjlib.judges.parts"],
    "tjlib.studies.rivals": ["tjlib.compact", "tjlib.measure.*", "tjlib.uncertainty.crossfit"],
    "tjlib.studies.yourlog": ["tjlib.formats.imported", "tjlib.formats.registry",
                              "tjlib.runpage.opened", "tjlib.runpage.texts",
                              "tjlib.uncertainty.*"],
    "tjlib.tables": [],
    "tjlib.textscores": ["tjlib.extract", "tjlib.features", "tjlib.formats.imported",
                         "tjlib.scoring", "tjlib.uncertainty.*"],
    "tjlib.trace": [],
    "tjlib.weights": [],
    "tjlib.uncertainty": [],
    "tjlib.uncertainty.batch": [f"tjlib.uncertainty.{name}" for name in (
        "equations", "graph", "parameters", "prefix", "variants")],
    "tjlib.uncertainty.baselines": ["tjlib.uncertainty.evidence", "tjlib.uncertainty.text"],
    "tjlib.uncertainty.example": [f"tjlib.uncertainty.{name}" for name in (
        "calibrate", "graph", "parameters", "prefix", "signals", "similarity")],
    "tjlib.uncertainty.layout": ["tjlib.formats.imported", "tjlib.uncertainty.prefix",
                                 "tjlib.uncertainty.propagate"],
    "tjlib.uncertainty.crossfit": [f"tjlib.uncertainty.{name}" for name in (
        "calibrate", "graph", "parameters", "propagate", "signals")],
    "tjlib.uncertainty.controls": ["tjlib.uncertainty.evidence", "tjlib.uncertainty.graph",
                                   "tjlib.uncertainty.parameters", "tjlib.uncertainty.prefix",
                                   "tjlib.uncertainty.text"],
    "tjlib.uncertainty.evidence": ["tjlib.uncertainty.calibrate", "tjlib.uncertainty.graph",
                                   "tjlib.uncertainty.parameters", "tjlib.uncertainty.signals",
                                   "tjlib.uncertainty.similarity"],
    "tjlib.uncertainty.choose": [f"tjlib.uncertainty.{name}" for name in (
        "crossfit", "graph", "habits", "recipes")],
    "tjlib.uncertainty.habits": [],
    "tjlib.uncertainty.methods": ["tjlib.uncertainty.*"],
    "tjlib.uncertainty.recipes": [f"tjlib.uncertainty.{name}" for name in (
        "controls", "evidence", "graph", "parameters", "prefix", "propagate", "signals")],
    "tjlib.uncertainty.parameters": [],
    "tjlib.uncertainty.rupa": ["tjlib.uncertainty.evidence", "tjlib.uncertainty.propagate",
                               "tjlib.uncertainty.signals"],
    "tjlib.uncertainty.tracer": ["tjlib.uncertainty.baselines", "tjlib.uncertainty.evidence",
                                 "tjlib.uncertainty.signals", "tjlib.uncertainty.text"],
    "tjlib.uncertainty.uprop": ["tjlib.uncertainty.evidence", "tjlib.uncertainty.text"],
    "tjlib.uncertainty.text": ["tjlib.judges.wording"],
    "tjlib.uncertainty.similarity": ["tjlib.embedding", "tjlib.uncertainty.text"],
    "tjlib.uncertainty.signals": ["tjlib.uncertainty.similarity", "tjlib.uncertainty.text"],
    "tjlib.uncertainty.prefix": ["tjlib.uncertainty.parameters", "tjlib.uncertainty.signals",
                                 "tjlib.uncertainty.similarity", "tjlib.uncertainty.text"],
    "tjlib.uncertainty.graph": ["tjlib.uncertainty.parameters", "tjlib.uncertainty.prefix",
                                "tjlib.uncertainty.similarity", "tjlib.uncertainty.text"],
    "tjlib.uncertainty.calibrate": [f"tjlib.uncertainty.{name}" for name in (
        "graph", "parameters", "signals", "similarity")],
    "tjlib.uncertainty.surrogate": ["tjlib.uncertainty.teacher", "tjlib.weights"],
    "tjlib.uncertainty.teacher": [],
    "tjlib.uncertainty.variants": ["tjlib.uncertainty.parameters", "tjlib.uncertainty.prefix"],
    "tjlib.uncertainty.peaks": [f"tjlib.uncertainty.{name}" for name in (
        "calibrate", "parameters", "prefix", "propagate", "signals")],
    "tjlib.uncertainty.propagate": [f"tjlib.uncertainty.{name}" for name in (
        "calibrate", "equations", "graph", "parameters", "prefix", "signals", "variants")],
    "tjlib.uncertainty.equations": [f"tjlib.uncertainty.{name}" for name in (
        "calibrate", "parameters", "prefix")],
    "tjlib.uncertainty.online": [f"tjlib.uncertainty.{name}" for name in (
        "calibrate", "equations", "parameters", "prefix", "propagate", "signals",
        "similarity")],
}
#: The store and what it is made of open files, as does the rerun, whose product is files;
#: the fetch and the model clients open sockets, and one asks for the kernels' loopback.
FILES = {"tjlib.store", "tjlib.containers", "tjlib.features", "tjlib.formats.sidecar",
         "tjlib.jsonl", "tjlib.judged", "tjlib.fetch", "tjlib.packaged", "tjlib.procedures",
         "tjlib.rerun"}
SOCKETS = {"tjlib.fetch", "tjlib.kernels", "tjlib.judges.models_ollama",
           "tjlib.judges.models_openai", "tjlib.judges.models_local", "tjlib.engine"}

OPENS = {
    "open", "fdopen", "read_text", "read_bytes", "write_text", "write_bytes",
    "read_csv", "read_json", "to_csv", "loadtxt", "savetxt", "load", "savez",
}
NETWORK = {
    "aiohttp", "distributed", "ftplib", "http", "httpx", "httpx2", "ollama", "openai", "requests",
    "socket", "urllib", "xllamacpp",
}

every_module = pytest.mark.parametrize("name", MODULES)


def matches(name: str, pattern: str) -> bool:
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))


def imports(name: str) -> set[str]:
    """Full names a module imports, wherever in it; ``from a import b`` gives a and a.b."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [base])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return found


@every_module
def test_imports_follow_the_arrows(name):
    ours = {target for target in imports(name) if target in MODULES} - {"tjlib", "tjlib.trace"}
    # A package named on the way to its module is no import of the package's own code.
    ours = {t for t in ours if not any(other.startswith(f"{t}.") for other in ours)}
    allowed = [a for pattern, to in ARROWS.items() if matches(name, pattern) for a in to]
    assert any(matches(name, pattern) for pattern in ARROWS), f"{name} has no line in ARROWS"
    assert {t for t in ours if not any(matches(t, pattern) for pattern in allowed)} == set()


@pytest.mark.parametrize("name", [m for m in MODULES if not m.startswith("tjlib.studies")])
def test_nothing_rests_on_what_a_single_chapter_is_computed_with(name):
    assert not [target for target in imports(name) if target.startswith("tjlib.studies")]


def test_the_world_does_not_know_the_rules_and_the_injector_does_not_see_the_checker():
    for name in ("tjlib.desk.world", "tjlib.desk.faults"):
        if name in MODULES:
            assert not any("rules" in target for target in imports(name))


@pytest.mark.parametrize("name", [m for m in MODULES if m.startswith(("tjlib.desk.rules",
                                                                     "tjlib.judges",
                                                                     "tjlib.guided.selectors",
                                                                     "tjlib.uncertainty"))] or [""])
def test_no_judge_can_name_a_label(name):
    if name:
        assert not any(target.endswith(".Label") for target in imports(name))


@every_module
def test_only_the_store_opens_files(name):
    if name in FILES:
        return
    # Verbs of the store and the importers, and where the command line sends what nobody reads.
    fine = ("store.load(", "registry.load(", "os.open(os.devnull")
    opened = {
        ast.unparse(node)
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in OPENS
        and not ast.unparse(node).startswith(fine)
    }
    assert opened == set()


@every_module
def test_only_the_fetcher_and_the_model_clients_reach_the_network(name):
    if name not in SOCKETS:
        # urllib.parse quotes, and reaches nothing.
        reached = {target for target in imports(name) if not target.startswith("urllib.parse")}
        assert {target.split(".")[0] for target in reached - {"urllib"}} & NETWORK == set()


@every_module
def test_no_module_is_longer_than_250_lines(name):
    assert len(MODULES[name].read_text("utf-8").splitlines()) <= 250


@every_module
def test_a_module_says_what_it_decides_and_lists_what_it_offers(name):
    tree = TREES[name]
    assert ast.get_docstring(tree), "no docstring"
    public = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    }
    if public:
        listed = next(
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        )
        assert public <= set(listed), f"not in __all__: {public - set(listed)}"


def test_importing_the_library_loads_nothing_heavy():
    code = (
        "import sys, tjlib; print(sorted({m.split('.')[0] for m in sys.modules} & "
        "{'altair', 'numpy', 'pandas', 'scipy', 'sklearn', 'torch', 'transformers', 'msgspec', "
        "'networkx', 'sentence_transformers'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_no_tracked_text_names_a_private_path_or_a_registry():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    # Spelled in two halves, so that this file does not find itself.
    forbidden = ["/" + "work/", "/" + "root/", "--index" + "-url", "--extra-index" + "-url"]
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and not name.startswith("data/"):
            text = path.read_text("utf-8", errors="replace")
            assert not [word for word in forbidden if word in text], name


def test_what_the_readmes_commands_write_is_ignored_and_cleaned():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    for name in ("bed/labels.jsonl", "rerun/a6_results.html"):
        done = subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT)
        assert done.returncode == 0, name
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\nclean:\n")[2].splitlines()[0]
    assert recipe.startswith("\trm -rf ") and "rerun" in recipe.split()
