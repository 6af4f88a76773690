"""Scores kept beside a run's numbers are those its text gives."""

from __future__ import annotations

import math

import msgspec
import pytest

from tjlib import features, scoring
from tjlib.extract import SCORES, extract
from tjlib.formats.imported import Imported
from tjlib.textscores import scored
from tjlib.trace import Call, InputError, Observation, Step, Trajectory
from tjlib.uncertainty.methods import METHODS
from tjlib.uncertainty.surrogate import Read
from tjlib.uncertainty.teacher import Scored

#: Methods that need log-probabilities, samples or a stated confidence; the others need a run.
MORE = ("rupa", "flat_u", "pe", "sp_sum", "sp_mean", "verbalized", "saup_d", "saup_d0", "saup_rms",
        "uprop", "uprop_single")
RUN = Imported(Trajectory("t-1", "Refund order 7.", (
    Step("Look it up.", (Call("find", {"id": "7"}),), (Observation(True, {"state": "sent"}),)),
    Step("Refunded."),
), "Refunded."), 1, False, 0.0, "7", "2", "m")
READ = Read("t-1", "d", [Scored(0, "message", [1, 2], [-1.0, -3.0], [0.5, 0.5], 0),
                         Scored(0, "call", [3, 4], [-5.0, -1.0], [2.0, 1.0], 0),
                         Scored(1, "message", [5], [-2.0], [1.5], 0)])


def tables(part: str = "all"):
    bare = extract([RUN], ["jaccard"], {"t-1": READ}, {1: "look", 2: "it", 3: "find", 4: "7",
                                                       5: "refunded"}.get)
    return scored([RUN], bare, ["jaccard"], part)


def test_every_method_has_a_row_for_each_measure_and_a_reason_where_it_has_no_score(tmp_path):
    features.write(tables(), "some", tmp_path)
    held = features.read("some", tmp_path)
    assert list(held.scores) == SCORES and len(held.scores) == 2 * len(METHODS)
    assert (held.scores["value"].isna() == held.scores["why"].notna()).all()
    for measure in ("nll", "entropy"):
        found = features.scores(held, "jaccard", measure)
        assert list(found) == list(scoring.COLUMNS)
        assert found["success"].unique().tolist() == [0] and found["steps"].unique().tolist() == [2]


def values(measure: str, part: str = "all") -> dict[str, float | None]:
    found = features.scores(tables(part), "jaccard", measure)
    return dict(zip(found["method"], found["value"], strict=True))


def test_scores_are_of_the_measure_and_the_part_they_are_named_by():
    # Step 0: NLL (1 + 3 + 5 + 1) / 4 = 2.5 and entropy (.5 + .5 + 2 + 1) / 4 = 1; then 2, 1.5.
    assert values("nll")["sp_mean"] == pytest.approx(2.25)
    assert values("entropy")["sp_mean"] == pytest.approx(1.25)
    # Calls alone: 3, and the step without a call takes the median of earlier ones.
    assert values("nll", "call")["sp_mean"] == pytest.approx(3.0)
    # PE is the mean over tokens: 4 of 2.5 and 1 of 2.
    assert values("nll")["pe"] == pytest.approx((4 * 2.5 + 2.0) / 5)
    # SAUP adds the message's and the calls' means: 2 + 3, and 2.
    assert values("nll")["saup_rms"] == pytest.approx(math.sqrt((25 + 4) / 2))


def test_rupa_kept_is_rupa_computed_from_the_text():
    from tjlib.uncertainty.signals import Local

    again = scoring.scores([RUN], "rupa,flat_u", given={
        "t-1": {"local": Local((2.5, 2.0), "surrogate")}})
    assert [values("nll")[m] for m in ("rupa", "flat_u")] == again["value"].tolist()


def test_scores_that_are_not_held_are_refused_in_one_line():
    with pytest.raises(InputError, match="no scores by 'minilm' and 'nll'"):
        features.scores(tables(), "minilm", "nll")


def test_a_run_that_was_not_read_is_scored_once_and_by_what_it_has():
    other = msgspec.structs.replace(RUN, trajectory=msgspec.structs.replace(
        RUN.trajectory, trajectory_id="t-2"))
    both = scored([RUN, other], extract([RUN, other], ["jaccard"], {"t-1": READ}), ["jaccard"])
    rows = both.scores.groupby("trajectory_id")
    assert rows.size().to_dict() == {"t-1": 2 * len(METHODS), "t-2": len(METHODS)}
    unread = rows.get_group("t-2").set_index("method")
    assert unread["value"].notna().to_dict() == {
        name: name not in MORE for name in METHODS}
    assert set(unread["u_source"]) == {"constant"} and unread["u"].isna().all()
