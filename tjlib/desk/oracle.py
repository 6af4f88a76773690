"""The scripted policy that solves every case.

Decision: six steps, the same for every stratum up to one branch (section 3),
and every argument after the first two comes from an observation. Refusal: it
reads none of a case's hidden facts, only what the goal states and what the
desk answers. The reply texts are ours and state nothing the desk did not say.
"""

from __future__ import annotations

from tjlib.desk.world import Desk, Instance
from tjlib.trace import Call

__all__ = ["calls"]


def calls(instance: Instance) -> list[Call]:
    """Solve a case on a desk of its own.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    list of Call
        Six calls; the fifth is ``issue_refund`` where the desk finds the
        order eligible, else ``escalate``.

    Examples
    --------
    >>> from tjlib.desk.world import instances
    >>> [call.tool for call in calls(next(instances(seed=7)))][3:]
    ['check_eligibility', 'issue_refund', 'reply']
    """
    desk, made = Desk(instance), []

    def ask(tool: str, **args: str | float) -> dict:
        made.append(Call(tool, args))
        return desk.call(made[-1]).data

    order_id = instance.order_id  # like the email, stated in the goal
    name = ask("get_customer", email=instance.customer.email)["name"]
    sku = ask("lookup_order", order_id=order_id)["sku"]
    ask("get_policy", sku=sku)
    check = ask("check_eligibility", order_id=order_id)
    if check["eligible"]:
        paid = ask("issue_refund", order_id=order_id, amount_eur=check["max_refund_eur"])
        text = f"Dear {name}, EUR {paid['refunded_eur']:.2f} for order {order_id} was refunded."
    else:
        reason = ask("escalate", reason=check["reason"])["reason"]
        text = (
            f"Dear {name}, order {order_id} cannot be refunded: {reason}. "
            "The case was handed to a colleague."
        )
    ask("reply", text=text)
    return made
