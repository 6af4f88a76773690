"""What logs hold, counted by their raw JSON alone: the referee of the importers, of which
nothing here knows anything (a test holds that)."""

import json
import re
from itertools import pairwise
from typing import NamedTuple

try:  # reads zstandard before Python 3.14 does
    from backports.zstd import zipfile
except ImportError:
    import zipfile


class Held(NamedTuple):
    """One run; ``errors`` is None where only an importer's reading of a text tells them."""

    steps: int
    tools: list[str]
    observations: int
    errors: int | None = 0
    tokens: int = 0
    success: bool | None = None


def values(path):
    """Return the JSON values of a file, the elements of a list or of an archive one by one."""
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as packed:
            return [json.loads(packed.read(name)) for name in packed.namelist()
                    if name.startswith("samples/")]
    return of_text(path.read_text("utf-8"))


def of_text(text):
    try:
        value = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    return value if isinstance(value, list) else [value]


def talk(messages, success=None, failed=lambda message: False,
         name=lambda call: call["function"]["name"]):
    own = [m for m in messages if m["role"] == "assistant"]
    results = [m for m in messages if m["role"] == "tool"]
    return Held(len(own), [name(c) for m in own for c in m.get("tool_calls") or []],
                len(results), sum(map(failed, results)), 0, success)


def refused(message):
    return (message["content"] or "").startswith("Error")


def native(rows):
    for row in rows:
        seen = [step["observation"] for step in row["steps"]]
        yield Held(len(seen), [step["call"]["tool"] for step in row["steps"]], len(seen),
                   sum(not o["ok"] for o in seen), 0, row["label"]["outcome_correct"])


def tau_bench(episodes):
    for episode in episodes:
        yield talk(episode["traj"], episode["reward"] == 1, refused)


def tau2(results):
    for result in results:
        for run in result.get("simulations", [result]):
            own = [m for m in run["messages"] if m.get("requestor", "assistant") == "assistant"]
            yield talk(own, (run["reward_info"] or {}).get("reward") == 1,
                       lambda m: m.get("error") is True, lambda call: call["name"])


def agentdojo(runs):
    for run in runs:
        provider = "internal server error" in str(run["error"])
        yield talk(run["messages"], None if provider else run["utility"],
                   lambda m: bool(m["error"]), lambda call: call["function"])


def openai_chat(given):
    if "messages" in given[0]:
        for row in given:
            yield talk(row["messages"], failed=refused)
        return
    for task in dict.fromkeys(m["task_id"] for m in given):  # Swarm's: a call is what a user says
        own = [m for m in given if m["task_id"] == task]
        tools = [m["tool"]["tool"] for m in own if "tool" in m]
        yield Held(sum(m["role"] == "assistant" for m in own) + len(tools), tools, 0)


#: A turn of the model: reasoning, then a message or calls; a capital letter ends it, as
#: its log-probabilities do. A reasoning behind a call is the call's if a result is next.
TURN = re.compile(r"r*(?:m?c*C|m?c+(?:r+(?=o))?|[mM])|r+")
STAND_INS = ([], [0.0], [-0.1, -0.2])


def _text(content):
    if not isinstance(content, list):
        return content or ""
    return "".join(part.get("text") or "" for part in content)


def _letter(item):
    """One letter an item: reasoning, message, call, its output, somebody else."""
    kind, real = item.get("type", "message"), item.get("generation_log_probs") or []
    if kind == "reasoning":
        return "r" if _text(item.get("content")) or _text(item.get("summary")) else ""
    if kind == "function_call_output":
        return "o"
    if kind == "message" and item["role"] != "assistant":
        return "u"
    if kind == "message" and real == [0.0] and not _text(item["content"]).strip():
        return ""
    found = "m" if kind == "message" else "c"
    return found.upper() if real not in STAND_INS else found


def _items(items, success=None):
    told = "".join(map(_letter, items))
    return Held(len(TURN.findall(told)), [i["name"] for i in items if _letter(i) in ("c", "C")],
                told.count("o"), None, sum(
                    len(real) for i in items
                    if (real := i.get("generation_log_probs") or []) not in STAND_INS), success)


def nemo_gym(rows):
    """Count rollouts; a nested history is told again in the one after it."""
    for row in rows:
        output = row["response"]["output"]
        given = row["responses_create_params"].get("input") or []
        given = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if output and isinstance(output[0], list):
            assert all(b[:len(a)] == a for a, b in pairwise(output))
            given, output = [], output[-1]
        full = 2.0 if "reward_components" in row else 1.0
        success = row.get("symbolic_equivalent", {0.0: False, full: True}.get(row.get("reward")))
        yield _items(given + output, success if output else None)


def codex(lines):
    yield _items([line["payload"] for line in lines if line["type"] == "response_item"])


def inspect(logs):
    for sample in [s for log in logs for s in log.get("samples", [log])]:
        if "messages" in sample:
            [score] = sample.get("scores", {}).values() or [{"value": ""}]
            yield talk(sample["messages"], {"C": True, "I": False, "": None}[score["value"]],
                       lambda m: bool(m.get("error")), lambda call: call["function"])


def swe_agent(logs):
    """Count the actions; tools by the function called, where one was called for it."""
    for log in logs:
        if "trajectory" not in log:
            yield talk(log["history"])
            continue
        functions = {m["action"]: m["tool_calls"][0]["function"]["name"] for m in log["history"]
                     if m.get("tool_calls") and not m.get("is_demo")}
        actions = [entry["action"] for entry in log["trajectory"]]
        yield Held(len(actions), [functions.get(a) or a.split()[0] for a in actions if a.strip()],
                   sum(isinstance(entry["observation"], str) for entry in log["trajectory"]))


def mini_swe_agent(logs):
    if "messages" in logs[0]:
        for log in logs:
            yield talk(log["messages"], failed=lambda m: m["extra"]["returncode"] != 0)
        return
    own = [m["content"] for m in logs if m["role"] == "assistant"]
    assert all(text.count("```") == 2 for text in own)
    outputs = [m["content"] for m in logs if m["role"] == "user"][1:]
    yield Held(len(own), ["bash"] * len(own), len(outputs), sum(
        "<returncode>" in text and "<returncode>0" not in text for text in outputs))


def openhands(logs):
    if "history" in logs[0]:
        runs = [([e for pair in log["history"] for e in pair], log["test_result"]["result"])
                for log in logs]
    else:
        runs = [(logs, None)]
    for events, success in runs:
        acts = [e for e in events if "action" in e and e["source"] == "agent"]
        tools = [e.get("tool_call_metadata", {}).get("function_name", e["action"]) for e in acts
                 if e["action"] in ("run", "edit", "run_ipython")]
        results = [e for e in events if e.get("observation") in ("run", "edit", "run_ipython")]
        yield Held(len(acts), tools, len(results),
                   sum(e.get("success") is False for e in results), 0, success)


def claude_code(lines):
    messages = [line["message"] for line in lines if "message" in line]
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    results = [b for b in blocks if b["type"] == "tool_result"]
    yield Held(len({m["id"] for m in messages if m["role"] == "assistant"}),
               [b["name"] for b in blocks if b["type"] == "tool_use"], len(results),
               sum(b.get("is_error") is True for b in results))


def managed_agents(lines):
    events = [payload for method, payload in lines if method.endswith("stream")]
    results = [e for e in events if e["type"].endswith("tool_result")]
    yield Held(sum(e["type"] == "span.model_request_start" for e in events),
               [e["name"] for e in events if e["type"].endswith("tool_use")], len(results),
               sum(e.get("is_error") is True for e in results))


def atif(logs):
    for log in logs:
        steps = log["steps"]
        yield Held(
            sum(s.get("source") == "agent" or s.get("role") == "assistant" for s in steps),
            [c["function_name"] for s in steps for c in s.get("tool_calls") or []],
            sum(len((s.get("observation") or s).get("results", [])) for s in steps))


def entries(history, success=None):
    """Count the entries of agents and of terminals."""
    terminal = [e["content"] for e in history if e.get("name") == "Computer_terminal"
                or e["role"] == "ComputerTerminal"]
    human = sum(e["role"] == "human" for e in history)
    return Held(len(history) - len(terminal) - human, [], len(terminal), None, 0, success)


def who_and_when(logs):
    for log in logs:
        yield entries(log["history"], False)


def magentic_one(log):
    yield entries(log)


def otel(spans):
    for span in spans:
        if "gen_ai.input.messages" in span:
            messages = json.loads(span["gen_ai.input.messages"])
            parts = [part for m in messages for part in m["parts"]]
            roles = [m["role"] for m in messages]
            tools = [part["name"] for part in parts if part["type"] == "tool_call"]
        elif "openinference.span.kind" in span:
            roles = [v for k, v in span.items() if re.fullmatch(r"llm\.input_.*\.role", k)]
            tools = [v for k, v in span.items() if re.fullmatch(r"llm\.input_.*function\.name", k)]
        else:
            yield Held(1, [span["gen_ai.tool.name"]], 1)
            continue
        yield Held(roles.count("assistant") + 1, tools, roles.count("tool"))  # and its answer


def smolagents_gaia(rows):
    for row in rows:
        steps = row["intermediate_steps"]
        calls = [s.get("tool_call") or s for s in steps]
        yield Held(sum("plan" in s or "llm_output" in s for s in steps),
                   [c["tool_name"] for c in calls if "tool_name" in c],
                   sum("observation" in s or "error" in s for s in steps),
                   sum("error" in s for s in steps), 0, row["prediction"] == row["true_answer"])


def agentbench(rows):
    for row in rows:
        turns = row["output"]["history"]
        said = [m["content"] for m in turns if m["role"] == "agent"]
        yield Held(len(said), [t.split()[0] for t in said if t.startswith(("GET ", "POST "))],
                   len(turns) - len(said) - 1, None)


#: Format -> what counts the values of a file of it, run by run.
COUNT = {count.__name__: count for count in (
    native, tau_bench, tau2, agentdojo, nemo_gym, codex, inspect, swe_agent, mini_swe_agent,
    openhands, claude_code, managed_agents, atif, who_and_when, magentic_one, otel,
    smolagents_gaia, agentbench, openai_chat)}
