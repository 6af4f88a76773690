"""The model-free reply judge as a run takes it: a threshold set, and all that made it on record.

Decision: with no similarity unless one is asked for. Distance catches nearly
every invention but flags many harmless lines too, for a new sentence is far
from the evidence whether it is false or only polite (chapter a4 and
`bench/reply.py` count both on sentences kept out of the making); and what was
looked up in vain can be named in the verdict, a distance cannot. Refusal: the
threshold comes from clean runs given here, never from what is to be judged,
and none goes unrecorded.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from tjlib.judges import entities, evidence, reply, similarity, wording
from tjlib.judges.asked import coded
from tjlib.trace import Trajectory, Verdict, to_json

__all__ = ["ModelFree"]


class ModelFree:
    """The reply judge without a model.

    Parameters
    ----------
    clean : sequence of Trajectory
        Runs known to be clean, of the same kind as those to be judged, and
        none of them.
    similarity : {"none", "jaccard", "minilm"}
        What is added to looking up entities and events: nothing, overlap of
        words, or embeddings.
    max_false_alarm : float
        Share of the clean runs that may be flagged.

    Attributes
    ----------
    name : str
        ``reply:entities``, ``reply:words`` or ``reply:minilm``.
    threshold : tjlib.judges.reply.Threshold

    Raises
    ------
    InputError
        For no clean run, a share outside [0, 1), another similarity, or one
        whose packages are missing.

    Examples
    --------
    >>> clean = [Trajectory("t-1", "Refund ORD-5.", (), "Refund ORD-5!")]
    >>> judge = ModelFree(clean)
    >>> judge.name, judge.judge(Trajectory("t-2", "Hello.", (), "I cancelled it.")).faulty
    ('reply:entities', True)
    """

    def __init__(
        self, clean: Sequence[Trajectory], similarity: str = "none", max_false_alarm: float = 0.0
    ) -> None:
        self.threshold = reply.fit_threshold(clean, max_false_alarm, similarity)
        self.name = reply.JUDGES[similarity]
        held = b"\n".join(map(to_json, clean))
        self._clean = hashlib.blake2b(held, digest_size=8).hexdigest()

    def identity(self) -> dict[str, Any]:
        """Say what makes this judge's verdicts what they are, for the record of a run.

        Returns
        -------
        dict
            Fields of `tjlib.provenance.Run`. ``options`` hold the threshold
            and a hash of the clean runs it was set on; ``digest`` is of the
            weights that embed, if any; in place of a prompt's hash stands
            that of the source code that judges.
        """
        parts = (reply, entities, evidence, similarity, wording)
        options = self.threshold.to_dict() | {"clean_runs": self._clean}
        if self.threshold.similarity == "minilm":
            return coded(self.name, "all-MiniLM-L6-v2", parts, options, *similarity.embedder())
        return coded(self.name, self.name.partition(":")[2], parts, options)

    def judge(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory.

        Parameters
        ----------
        trajectory : Trajectory

        Returns
        -------
        Verdict
            As `tjlib.judges.reply.judge`, with the seconds it took; no token
            is read or written.
        """
        start = time.perf_counter()
        verdict = reply.judge(trajectory, self.threshold)
        return msgspec.structs.replace(verdict, latency_s=time.perf_counter() - start,
                                       prompt_tokens=0, completion_tokens=0)
