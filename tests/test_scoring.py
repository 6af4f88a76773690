"""A log scored and evaluated: what a row says, what is left out, what a terminal shows."""

import csv
import io
import json
import tracemalloc

import drawn
import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import logcommands
from tjlib.__main__ import main
from tjlib.compact import compact
from tjlib.formats.imported import Imported
from tjlib.formats.registry import FORMATS, load
from tjlib.measure import ranking
from tjlib.ranktext import evaluation, ranked
from tjlib.scoring import COLUMNS, NO_HALF, as_csv, calibrated, evaluate, scores
from tjlib.trace import InputError, Step, Trajectory
from tjlib.uncertainty.crossfit import crossfit
from tjlib.uncertainty.evidence import NO_LOGPROBS
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.methods import AGAINST, METHODS
from tjlib.uncertainty.signals import fill

RNG = np.random.default_rng


def imported(name, steps, success, task, **fields):
    trajectory = Trajectory(name, "refund it", (Step("look"),) * steps, "")
    return Imported(trajectory, 1, success, task_id=task, **fields)


#: Longer runs fail more often, whatever the task.
RUNS = [imported(f"r{i}", 1 + (7 * i) % 11 + 4 * (i % 3 == 0), i % 3 != 0, f"task{i // 3}")
        for i in range(24)]


def test_a_row_holds_the_run_its_outcome_the_score_or_why_there_is_none():
    found = scores([imported("a", 2, None, "t", trial="0", model="m", reward=0.5)], "n_steps,pe")
    assert tuple(found.columns) == COLUMNS
    assert found.iloc[0].tolist() == [
        "a", "t", "0", "m", None, 0.5, 2, "n_steps", 2.0, "", "constant", 0]
    assert found.iloc[1]["value"] is None and "log-probabilities" in found.iloc[1]["why"]


@given(st.lists(drawn.runs, min_size=2, max_size=3), st.data())
def test_permuting_outcomes_changes_no_score_of_any_method(taken, data):
    trajectories = [msgspec.structs.replace(t, trajectory_id=f"r{i}")
                    for i, t in enumerate(taken)]
    outcome = st.permutations([True, False, None][:len(taken)])
    one, other = (
        scores([Imported(t, 1, success, reward=None if success is None else float(success))
                for t, success in zip(trajectories, data.draw(outcome), strict=True)])
        for _ in range(2))
    assert set(one["method"]) == set(METHODS)
    pd.testing.assert_frame_equal(one.drop(columns=["success", "reward"]),
                                  other.drop(columns=["success", "reward"]))


def test_what_is_known_beside_the_log_makes_a_score_computable():
    given = {"r0": {"local": fill([0.5] * 5, "surrogate"), "tokens": [1] * 5}}
    found = scores(RUNS[:2], "pe", given=given)
    assert found["value"].tolist() == [0.5, None]
    assert found["u_source"].tolist() == ["surrogate", "constant"]


def test_one_row_a_run_and_one_column_a_method_keep_their_order():
    table = compact(scores(RUNS, "tracer,flat")).scores
    assert list(table.columns) == ["tracer", "flat"]
    assert list(table.index) == [r.trajectory.trajectory_id for r in RUNS]


def test_an_evaluation_is_of_judged_runs_with_failure_as_the_positive_class():
    runs = [*RUNS, imported("crashed", 3, None, "task0")]
    table = evaluate(scores(runs, "n_steps"), RNG(0), draws=100)
    row = table[table["metric"] == "auroc"].iloc[0]
    lengths = [len(r.trajectory.steps) for r in RUNS]
    assert row["value"] == ranking.auroc([not r.success for r in RUNS], lengths) > 0.5
    assert (row["n"], row["n_failed"], row["n_unjudged"]) == (24, 8, 1)


def test_length_is_no_use_among_runs_of_the_same_length():
    table = evaluate(scores(RUNS, "n_steps,fewer_steps"), RNG(0), draws=100)
    same = table[table["metric"] == "auroc|same_length"]
    assert same["value"].tolist() == [0.5, 0.5]


def test_models_are_compared_apart_only_where_there_are_several():
    several = [imported(f"r{i}", 2 + i, i % 2 == 0, f"t{i}", model=f"m{i % 2}") for i in range(8)]
    one = evaluate(scores(RUNS, "n_steps"), RNG(0), draws=100)
    assert "auroc|same_model" not in set(one["metric"])
    found = evaluate(scores(several, "n_steps"), RNG(0), draws=100)
    assert found[found["metric"] == "auroc|same_model"]["why"].tolist() == [
        "undefined: no failed and successful run share the stratum"]


def test_a_log_without_outcomes_is_not_evaluated():
    with pytest.raises(InputError, match="no run of the log has an outcome"):
        evaluate(scores([imported("a", 2, None, "t")], "n_steps"), RNG(0))


def test_csv_reads_back_to_the_last_digit(tmp_path):
    found = scores(RUNS, "flat,pe")
    back = pd.read_csv(io.BytesIO(as_csv(found)), keep_default_na=False, dtype=str)
    assert tuple(back.columns) == COLUMNS
    values = [None if v == "" else float(v) for v in back["value"]]
    assert values == found["value"].tolist()


def test_names_with_commas_quotes_and_line_ends_stay_in_their_cell():
    odd = imported("a", 1, True, 'x,"y"\nz')
    rows = list(csv.reader(io.StringIO(as_csv(scores([odd], "n_steps")).decode())))
    assert len(rows) == 2 and rows[1][1] == 'x,"y"\nz'


def test_the_likeliest_to_fail_stands_first_and_the_rest_is_counted():
    text = ranked(scores(RUNS, "n_steps,pe"), most=3)
    longest = max(RUNS, key=lambda r: len(r.trajectory.steps)).trajectory.trajectory_id
    assert text.splitlines()[1].split()[0] == longest
    assert "24 runs, the likeliest to fail by n_steps first; 21 more are not shown" in text
    assert "pe: not computable: the log has no token log-probabilities" in text


def test_without_any_score_only_reasons_are_shown():
    assert ranked(scores(RUNS, "pe,verbalized")).splitlines() == [
        "pe: not computable: the log has no token log-probabilities",
        "verbalized: not computable: no step states a confidence"]


def test_an_evaluation_shows_every_method_that_has_a_score_however_bad():
    found = scores(RUNS, "n_steps,fewer_steps,pe,random")
    text = evaluation(evaluate(found, RNG(0), draws=100, pairs=[("n_steps", "random")]))
    first = [line.split("  ")[0] for line in text.split("\n\n")[0].splitlines()[1:]]
    assert first == ["n_steps", "fewer_steps", "random", "n_steps - random", "(no knowledge)"]
    assert "24 runs, 8 of them failed, 0 more without an outcome" in text
    assert "pe: not computable: no run has a score" in text


def test_what_is_to_be_read_with_care_is_said():
    few = [imported(f"r{i}", 1 + i, i > 1, f"t{i}") for i in range(6)]
    text = evaluation(evaluate(scores(few, "n_steps"), RNG(0), draws=200))
    assert "few runs; " in text and "do not rely on the interval" in text
    one = [imported(f"r{i}", 1 + i, True, f"t{i}") for i in range(6)]
    assert "undefined: no run failed" in evaluation(evaluate(scores(one, "n_steps"), RNG(0)))


def test_every_difference_reported_is_between_methods_there_are():
    assert {name for pair in AGAINST for name in pair} <= set(METHODS)


# --- the public log --------------------------------------------------------------------------

@pytest.fixture(scope="module")
def airline(shared):
    log = load(shared / "traces/samples/tau_bench/gpt-4o-airline.json")
    found = scores(log.runs)
    pairs = [("rupa_structural", "flat"), ("rupa_structural", "n_steps")]
    return evaluate(found, RNG(0), pairs=pairs).set_index(["method", "metric"])


def test_on_the_airline_log_length_alone_ranks_as_well_as_propagation(airline):
    assert airline.loc[("n_steps", "auroc"), "value"] == pytest.approx(0.683, abs=5e-4)
    assert airline.loc[("n_steps", "auroc"), "lo"] > 0.5
    for control in ("flat", "n_steps"):
        row = airline.loc[(f"rupa_structural - {control}", "auroc")]
        assert row["lo"] < 0 < row["hi"]


def test_on_the_airline_log_every_computable_method_is_measured_and_no_other(airline):
    measured = airline.dropna(subset=["value"])
    methods = {name for name, _ in measured.index if " - " not in name}
    assert methods == {"rupa_structural", "rupa_settled", "flat", "tracer", "n_steps",
                       "fewer_steps", "n_calls", "fewer_calls", "n_words", "fewer_words",
                       "failing_share", "repetition", "random"}
    for name in methods:
        for metric in ("auroc", "average_precision", "best_f1", "auroc|same_length",
                       "auroc|same_task", "rank_correlation|length"):
            row = measured.loc[(name, metric)]
            assert row["n"] == 200 and 0 <= abs(row["value"]) <= 1
            # Length against length is the same in every resample, which the reason says.
            bare = name in ("n_steps", "fewer_steps") and metric.endswith("length")
            assert row["why"] if bare else row["lo"] <= row["value"] <= row["hi"]
    left = airline[airline["value"].isna()]["why"]
    assert left.str.startswith("not computable: ").all()
    # Flagging every run has 2p / (1 + p), and no threshold can do worse.
    best = airline.xs("best_f1", level="metric").loc[sorted(methods)]
    assert best["chance"].tolist() == pytest.approx([2 * 116 / 316] * len(best))
    assert (best["value"] >= best["chance"] - 1e-12).all()


def test_on_the_airline_log_length_tells_nothing_between_trials_of_one_task(airline):
    row = airline.loc[("n_steps", "auroc|same_task")]
    assert row["pairs"] == 88
    assert row["lo"] < 0.5 < row["hi"]


def test_on_the_airline_log_a_random_score_is_no_better_than_chance(airline):
    row = airline.loc[("random", "auroc")]
    assert row["lo"] < 0.5 < row["hi"] and (row["n"], row["n_failed"]) == (200, 116)


# --- the command -----------------------------------------------------------------------------

@pytest.fixture
def run(capsys):
    def call(*args):
        try:
            status = main(["uq", *map(str, args)])
        except SystemExit as left:
            status = left.code
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def log(tmp_path):
    episodes = [{"task_id": i // 2, "trial": i % 2, "reward": float(i % 3 > 0), "info": {},
                 "traj": [{"role": "user", "content": "Refund it"}]
                 + [{"role": "assistant", "content": f"Step {j}"} for j in range(1 + i)]}
                for i in range(12)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(episodes, indent=0), "utf-8")
    return path


def test_uq_prints_a_table_and_writes_every_score(run, log, tmp_path):
    status, out, err = run("--traces", log, "--method", "n_steps,pe", "--out", tmp_path / "s.csv")
    assert (status, err) == (0, "")
    assert out.splitlines()[1].split()[:2] == ["tau-5-1", "success"]
    assert (f"{log}: runs read: {len(load(log).runs)} (tau_bench), places not read: 0, files "
            "passed over: 0; a step's own uncertainty: constant") in out
    assert (tmp_path / "s.csv").read_bytes() == as_csv(scores(load(log).runs, "n_steps,pe"))


def test_uq_evaluates_when_asked_and_the_same_seed_gives_the_same_text(run, log):
    args = ("--traces", log, "--evaluate", "--draws", 100)
    status, out, _ = run(*args)
    assert status == 0 and "best F1" in out and "same task" in out
    assert "rupa_structural - flat" in out
    assert run(*args)[1] == out != run(*args, "--seed", 1)[1]


def test_uq_names_what_it_could_not_read_by_line(run, log):
    log.write_text(json.dumps([{"task_id": 1, "traj": [
        {"role": "critic\x1b[2J", "content": "x"}, {"role": "assistant", "content": "Hi"}]},
        7]).replace(", 7", ",\n7"), "utf-8")
    status, out, err = run("--traces", log, "--method", "n_steps")
    assert status == 0 and "\x1b" not in out + err
    assert err.splitlines() == [
        f"tjlib: {log}:1: tau-1: message 0: of unknown role 'critic?[2J', left out",
        f"tjlib: {log}:1: tau-1: no reward that is a number, so not judged",
        f"tjlib: {log}:2: no episode of tau-bench"]


@pytest.mark.parametrize(("args", "says"), [
    (["--method", "rupee"], "no method 'rupee'; there are: rupa, "),
    (["--format", "tau3"], "no format 'tau3'; known are auto, native, tau_bench")])
def test_an_unknown_method_or_format_is_wrong_usage(run, log, args, says):
    status, out, err = run("--traces", log, *args)
    assert (status, out) == (2, "") and says in err


@pytest.mark.parametrize(("args", "says"), [
    (["--traces", "no.json"], "no.json: there is no such file; check the path"),
    (["--embedder", "nosuch"], "nosuch"),
    (["--out", "no/such/folder/s.csv"], "no/such/folder/s.csv"),
    (["--out", "."], ".: this is a folder; give the name of a file"),
    (["--out", "log.json"], "log.json: is the log itself, or another file that is read"),
    (["--evaluate"], "log.json: no run has an outcome; leave --evaluate out, or")])
def test_bad_input_is_one_line_and_exit_1_before_any_run_is_scored(
    run, log, monkeypatch, args, says
):
    monkeypatch.chdir(log.parent)
    if "--evaluate" in args:
        log.write_text(log.read_text("utf-8").replace('"reward"', '"points"'), "utf-8")
    before = log.read_bytes()
    status, out, err = run("--traces", log, "--method", "rupa_structural", *args)
    assert (status, out, err.count("\n")) == (1, "", 1) and says in err
    assert log.read_bytes() == before


@pytest.mark.parametrize(("content", "says"), [
    (b"", "holds no run"), (b"[]", "holds no run"), (b"{}", "known are native, tau_bench"),
    (b"no json", ":1: no JSON"), (b"\xff\xfe\x00", ":1: no JSON")])
def test_a_file_that_is_no_log_is_one_line(run, log, content, says):
    log.write_bytes(content)
    status, out, err = run("--traces", log)
    assert (status, out, err.count("\n")) == (1, "", 1) and says in err


@pytest.mark.parametrize("spoil", [
    lambda e: [x | {"traj": x["traj"][:1]} for x in e], lambda e: e[1:2],
    lambda e: [x | {"reward": 0.0} for x in e], lambda e: [x | {"task_id": 1} for x in e]],
    ids=["no step", "one run", "all failed", "one task"])
def test_an_evaluation_of_too_little_says_so_in_words(run, log, spoil):
    log.write_text(json.dumps(spoil(json.loads(log.read_text("utf-8")))), "utf-8")
    status, out, _ = run("--traces", log, "--evaluate", "--draws", 100, "--method",
                         "rupa_structural,n_steps")
    assert status == 0 and "Empty" not in out and "nan" not in out.lower() and "1 runs" not in out
    assert "undefined: " in out or "not computable: " in out


def test_a_long_name_leaves_a_line_readable_and_the_file_whole(run, log, tmp_path):
    episodes = [x | {"task_id": "x" * 100_000} for x in json.loads(log.read_text("utf-8"))]
    episodes[0]["traj"].append({"role": "critic", "content": "x"})
    log.write_text(json.dumps(episodes), "utf-8")
    _, out, err = run("--traces", log, "--method", "n_steps", "--out", tmp_path / "s.csv")
    assert max(map(len, (out + err).splitlines())) < 300
    assert "xxx-1~" in out and "tau-" + "x" * 100_000 in (tmp_path / "s.csv").read_text("utf-8")


def test_the_help_names_every_format(run):
    _, out, _ = run("--help")
    assert all(name in out for name in ("auto", *FORMATS))
    assert logcommands.uq.__doc__


def test_processes_change_no_score_and_no_row():
    pd.testing.assert_frame_equal(scores(RUNS * 9, where=2), scores(RUNS * 9))


def _lines(path, runs):
    """Write a log of runs, each of about 2 kB and all of different words."""
    with path.open("w", encoding="utf-8") as file:
        for i in range(runs):
            file.write(json.dumps({"id": f"run-{i}", "success": i % 3 > 0, "messages": [
                {"role": "user", "content": f"Refund order {i}."},
                {"role": "assistant", "content": f"a{i} " * 150},
                {"role": "assistant", "content": f"b{i} " * 150}]}) + "\n")
    return path


def _peak(run, path):
    """Score a log and return the most bytes that Python held."""
    tracemalloc.start()
    status, *_ = run("--traces", path, "--method", "rupa_structural,flat,n_steps",
                     "--workers", 1, "--out", path.with_suffix(".csv"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert status == 0
    return peak


def test_what_uq_holds_of_a_run_is_its_name_and_its_numbers(run, tmp_path):
    # A name, a task, where it was read, three scores: below 1 kB, where the text alone is 2 kB.
    # What does not grow with the log, such as the texts of the last runs, is in both;
    # what is imported is in the first.
    _, few, many = (_peak(run, _lines(tmp_path / f"{n}.jsonl", n)) for n in (1, 500, 2_500))
    assert (many - few) / 2_000 < 1_000
    assert len((tmp_path / "2500.csv").read_bytes().splitlines()) == 1 + 3 * 2_500


def test_uq_on_two_processes_prints_and_writes_what_one_does(run, tmp_path):
    log, out = _lines(tmp_path / "log.jsonl", 300), tmp_path / "s.csv"
    told = [(run("--traces", log, "--evaluate", "--draws", 100, "--workers", workers,
                 "--out", out), out.read_bytes()) for workers in (1, 2)]
    assert told[0] == told[1] and told[0][0][0] == 0


def test_a_log_of_which_no_run_can_be_read_is_one_line_that_says_why(run, tmp_path):
    (tmp_path / "log.json").write_text("[7]", "utf-8")
    status, out, err = run("--traces", tmp_path / "log.json", "--format", "tau_bench",
                           "--evaluate", "--out", tmp_path / "s.csv")
    assert (status, out) == (1, "") and not (tmp_path / "s.csv").exists()
    assert err == (f"tjlib: {tmp_path}/log.json:1: no episode of tau-bench; no run could be "
                   "read\n")


def test_calibrated_rows_are_the_other_halfs_reliabilities_and_say_why_there_are_none():
    graphs = [build(run.trajectory) for run in RUNS]
    tasks = [run.task_id for run in RUNS]
    own = [fill([0.1 * n for n in range(len(g.agent))], "surrogate") for g in graphs]
    found = calibrated(scores(RUNS, "flat"), graphs, own)
    assert found["method"].value_counts().to_dict() == dict.fromkeys(
        ("flat", "rupa_calibrated", "rupa_structural_calibrated"), len(RUNS))
    rows = found[found["method"] == "rupa_calibrated"]
    assert rows["value"].tolist() == crossfit(graphs, own, tasks)
    assert rows["trajectory_id"].tolist() == [run.trajectory.trajectory_id for run in RUNS]
    mute = calibrated(scores(RUNS, "flat"), graphs, [
        fill([None] * len(g.agent), "constant") for g in graphs])
    reasons = mute[mute["value"].isna()]
    assert set(reasons["method"]) == {"rupa_calibrated"} and set(reasons["why"]) == {NO_LOGPROBS}
    one = calibrated(scores(RUNS[:1], "flat"), graphs[:1], own[:1])
    assert set(one.loc[one["value"].isna(), "why"]) == {NO_HALF}
