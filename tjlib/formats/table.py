"""Every format that is read, by name.

Decision: one line a format, which is all that a new importer adds. Refusal:
nothing is read here (`tjlib.formats.registry` does that).
"""

from __future__ import annotations

from tjlib.formats import (
    agentbench,
    agentdojo,
    anthropic,
    atif,
    claude_code,
    codex,
    inspect_ai,
    langsmith,
    magentic_one,
    managed_agents,
    mini_swe_agent,
    native,
    nemo_gym,
    openai_chat,
    openhands,
    otel,
    smolagents_gaia,
    swe_agent,
    tau2,
    tau_bench,
    who_and_when,
)
from tjlib.formats.detect import Format, Labels

__all__ = ["FORMATS", "OUTCOMES"]

#: Name -> format, in the order in which they are tried.
FORMATS = {
    "native": Format(native.recognise, native.read),
    "tau_bench": Format(tau_bench.recognise, tau_bench.read),
    "tau2": Format(tau2.recognise, tau2.read),
    "agentdojo": Format(agentdojo.recognise, agentdojo.read),
    "nemo_gym": Format(nemo_gym.recognise, nemo_gym.read),
    "codex": Format(codex.recognise, codex.read),
    "inspect": Format(inspect_ai.recognise, inspect_ai.read, together=True),
    "swe_agent": Format(swe_agent.recognise, swe_agent.read),
    "mini_swe_agent": Format(mini_swe_agent.recognise, mini_swe_agent.read),
    "openhands": Format(openhands.recognise, openhands.read),
    "claude_code": Format(claude_code.recognise, claude_code.read),
    "managed_agents": Format(managed_agents.recognise, managed_agents.read),
    "anthropic": Format(anthropic.recognise, anthropic.read),
    "atif": Format(atif.recognise, atif.read),
    "who_and_when": Format(who_and_when.recognise, who_and_when.read),
    "magentic_one": Format(magentic_one.recognise, magentic_one.read),
    "otel": Format(otel.recognise, otel.read),
    "langsmith": Format(langsmith.recognise, langsmith.read),
    "smolagents_gaia": Format(smolagents_gaia.recognise, smolagents_gaia.read),
    "agentbench": Format(agentbench.recognise, agentbench.read),
    "openai_chat": Format(openai_chat.recognise, openai_chat.read),  # last: it takes any messages
}

#: Format -> what reads its label files.
OUTCOMES: dict[str, Labels] = {
    "native": native.outcomes,
    "tau_bench": tau_bench.outcomes,
    "swe_agent": swe_agent.outcomes,
    "mini_swe_agent": mini_swe_agent.outcomes,
}
