"""The cases that come to the desk, and how each should end.

Decision: a case is drawn from one seeded stream and says how it should end
from its stratum alone, without consulting the desk, so that the two can be
tested against each other. Ids are drawn at random (ours): in the release of
the paper the order number counts the cases, and a high one means a fault.
Refusal: no tool acts here (`tjlib.desk.world` does that).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec

__all__ = [
    "GOAL", "STRATA", "Customer", "Instance", "Outcome", "expected_outcome", "instances",
    "less_fee",
]

#: The six kinds of case, dealt round-robin over the instance index (appendix A).
STRATA = ("happy", "restocking", "expired", "non_refundable", "wrong_customer", "already_refunded")


#: The request every agent starts from, verbatim (appendix A).
GOAL = (
    "Customer {email} has asked for a refund on order {order_id}. Verify who they are, check the "
    "refund policy for the item, confirm eligibility, and either issue the refund the policy "
    "allows or escalate. Reply to the customer."
)

# Appendix A gives the pool's size, the range of totals, the windows and the fees; the five SKUs
# are the release's. How far past its window an expired purchase lies is our choice.
_SKUS = ("SKU-AUDIO-11", "SKU-CHAIR-42", "SKU-LAMP-07", "SKU-PHONE-88", "SKU-TENT-23")
_TOTAL_CENTS = (24_00, 480_00)
_WINDOWS = (14, 30, 60)
_FEES = (5, 10, 15)
_DAYS_LATE = (1, 45)

_FIRST = ("Amira", "Bruno", "Chiara", "Dmitri", "Elif", "Femke", "Goran", "Hilde", "Ines", "Jakub")
_LAST = ("Abbas", "Bergman", "Castro", "Demir", "Eriksen", "Ferrara", "Gruber", "Horvat", "Ivanov")


class Customer(msgspec.Struct, frozen=True):
    """One customer of the shop."""

    customer_id: str
    name: str
    email: str
    phone_last4: str


class Instance(msgspec.Struct, frozen=True):
    """One case: the goal an agent is given, and the facts hidden behind it.

    ``customer`` asks; the order is theirs unless ``owner_id`` says that it is
    ``decoy``'s. The total is in euros, the window in days, the fee in percent.
    """

    instance_id: str
    stratum: str
    goal: str
    customer: Customer
    decoy: Customer
    order_id: str
    owner_id: str
    sku: str
    total_eur: float
    days_since_purchase: int
    already_refunded: bool
    refundable: bool
    refund_window_days: int
    restocking_fee_pct: int


class Outcome(msgspec.Struct, frozen=True):
    """What the customer ends up with: euros refunded, if any, and a ticket or none."""

    refunded_eur: float | None
    escalated: bool


def instances(seed: int = 7) -> Iterator[Instance]:
    """Generate cases without end from one seeded stream.

    Parameters
    ----------
    seed : int
        The same seed gives the same cases on every machine.

    Yields
    ------
    Instance
        Case ``i`` belongs to stratum ``STRATA[i % 6]`` (appendix A).

    Examples
    --------
    >>> first = next(instances(seed=7))
    >>> first.instance_id, first.stratum
    ('INS-00000', 'happy')
    """
    rng = random.Random(f"desk-{seed}")
    index = 0
    while True:
        yield _draw(rng, f"INS-{index:05d}", STRATA[index % len(STRATA)])
        index += 1


def _draw(rng: random.Random, instance_id: str, stratum: str) -> Instance:
    customer, decoy = (
        Customer(
            customer_id=f"CUS-{number}",
            name=f"{first} {last}",
            email=f"{first}.{last}{suffix}@example.com".lower(),
            phone_last4=f"{rng.randrange(10_000):04d}",
        )
        for number, suffix, first, last in zip(
            rng.sample(range(10_000, 100_000), 2), rng.sample(range(10, 100), 2),
            rng.choices(_FIRST, k=2), rng.choices(_LAST, k=2), strict=True,
        )
    )
    order_id = f"ORD-{rng.randrange(10_000, 100_000)}"
    window = rng.choice(_WINDOWS)
    late = stratum == "expired"
    days = window + rng.randint(*_DAYS_LATE) if late else rng.randint(1, window)
    return Instance(
        instance_id=instance_id,
        stratum=stratum,
        goal=GOAL.format(email=customer.email, order_id=order_id),
        customer=customer,
        decoy=decoy,
        order_id=order_id,
        owner_id=(decoy if stratum == "wrong_customer" else customer).customer_id,
        sku=rng.choice(_SKUS),
        total_eur=rng.randint(*_TOTAL_CENTS) / 100,
        days_since_purchase=days,
        already_refunded=stratum == "already_refunded",
        refundable=stratum != "non_refundable",
        refund_window_days=window,
        restocking_fee_pct=rng.choice(_FEES) if stratum == "restocking" else 0,
    )


def less_fee(total_eur: float, fee_pct: int) -> float:
    """Take a restocking fee off a total.

    Parameters
    ----------
    total_eur : float
        Euros, in whole cents.
    fee_pct : int
        Percent of the total that is kept.

    Returns
    -------
    float
        Euros, to the cent; half a cent goes to the even one.

    Examples
    --------
    >>> less_fee(410.30, 5)
    389.78
    """
    # Through whole cents, where half a cent is exactly half.
    return round(round(total_eur * 100) * (100 - fee_pct) / 100) / 100


def expected_outcome(instance: Instance) -> Outcome:
    """Say how a case should end, from its stratum alone.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    Outcome
        A full refund (happy), a refund less the fee (restocking), else an
        escalation and no refund (appendix A). It does not consult the desk's
        eligibility chain, so that the two can be tested against each other.
    """
    if instance.stratum in ("happy", "restocking"):
        return Outcome(less_fee(instance.total_eur, instance.restocking_fee_pct), escalated=False)
    return Outcome(None, escalated=True)
