"""Desks that behave otherwise: one fails for a while, one reads any spelling, one lags.

Decision: each changes one thing about the desk of `world`, which stays as it
is. Refusal: none of them says whether a call should have been made. All ours.
"""

from __future__ import annotations

import msgspec

from tjlib.desk.world import Desk, Instance
from tjlib.trace import Call, Observation

__all__ = ["Caseless", "Failing", "Slow"]


class Failing(Desk):
    """A desk of which some calls in a row fail and change nothing.

    Parameters
    ----------
    instance : Instance
    at : int
        The number, from 0, of the first call that fails.
    times : int
    error : str
    """

    def __init__(self, instance: Instance, at: int, times: int, error: str) -> None:
        super().__init__(instance)
        self._failing, self._error, self._made = range(at, at + times), error, 0

    def call(self, call: Call) -> Observation:
        """Carry out one call, or fail."""
        self._made += 1
        if self._made - 1 in self._failing:
            return Observation(False, error=self._error)
        return super().call(call)


class Caseless(Desk):
    """A desk that reads an order's number in any case and with blanks around it."""

    def call(self, call: Call) -> Observation:
        """Carry out one call as if its order number were written the usual way."""
        said = call.args.get("order_id")
        if isinstance(said, str) and said.strip().upper() == self._case.order_id:
            args = call.args | {"order_id": self._case.order_id}
            call = msgspec.structs.replace(call, args=args)
        return super().call(call)


class Slow(Desk):
    """A desk on which an order's status still reads as before after a refund."""

    def call(self, call: Call) -> Observation:
        """Carry out one call; a lookup shows the status the order came with."""
        seen = super().call(call)
        if call.tool == "lookup_order" and seen.ok:
            status = "refunded" if self._case.already_refunded else "delivered"
            seen = msgspec.structs.replace(seen, data=seen.data | {"status": status})
        return seen
