"""How fast a log is read, converted and scored, beside a plain loop over its lines.

    python bench/formats.py [STEPS] [FOLDER]

Writes a log of STEPS steps (default 100,000; a million is about 0.6 GB) in
OpenAI's chat form, one run a line, then times in one process each: a plain
json.loads loop, the reading, the conversion, the reading of the same runs as
one list in one file, and the scoring as `tjlib uq` does it, by METHODS, first
in that process alone, then in as many more as there are processors. The ratio
is the time over that of the loop. Memory is the most the process held, less
what it held after a log of one run; a worker's is not in it.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEPS_A_RUN = 10
METHODS = "rupa_structural,flat,n_steps"


def line(number: int) -> str:
    """One run: a question, ten calls with their results, an answer."""
    messages = [{"role": "system", "content": "Check the order before you refund it. " * 8},
                {"role": "user", "content": f"Refund order {number}, it arrived broken."}]
    for i in range(STEPS_A_RUN - 1):
        messages += [
            {"role": "assistant", "content": f"Let me look at part {i} of the order.",
             "tool_calls": [{"id": f"c{i}", "type": "function", "function": {
                 "name": "get_order", "arguments": json.dumps({"order": number, "part": i})}}]},
            {"role": "tool", "tool_call_id": f"c{i}", "content": json.dumps(
                {"order": number, "sku": f"SKU-{i}", "price": 19.5 + i, "state": "delivered"})}]
    messages.append({"role": "assistant", "content": f"Order {number} is refunded."})
    return json.dumps({"id": f"run-{number}", "success": number % 3 > 0, "messages": messages})


def write(path: Path, runs: int, listed: bool) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("[\n" if listed else "")
        for number in range(runs):
            file.write((",\n" if listed and number else "") + line(number))
            file.write("" if listed else "\n")
        file.write("\n]\n" if listed else "")


def work(what: str, path: Path) -> int:
    """Do one of the tasks; return the steps it met."""
    from tjlib.convert import Count, convert, count, counted

    if what == "json.loads":
        with path.open(encoding="utf-8") as file:
            return sum(sum(m["role"] == "assistant" for m in json.loads(text)["messages"])
                       for text in file)
    if what == "convert":
        return convert(path, path.with_name("out.jsonl"), tell=print)[0].steps
    if what.startswith("score"):
        from tjlib import scoring
        from tjlib.compact import compact

        done = Count()
        with path.with_name("scores.csv").open("wb") as file:
            compact(scoring.written(scoring.stream(
                counted(done, path, tell=print), METHODS, where=int(what == "score")), file))
        return done.steps
    return count(path, tell=print).steps


def most() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    if sys.argv[1] == "--one":
        what, path = sys.argv[2], Path(sys.argv[3])
        work(what, path.with_name("tiny.jsonl"))
        before, start = most(), time.perf_counter()
        steps = work(what, path)
        print(steps, time.perf_counter() - start, most() - before)
        return
    steps = int(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        lines, listed = Path(folder) / "lines.jsonl", Path(folder) / "list.json"
        write(Path(folder) / "tiny.jsonl", 1, listed=False)
        write(lines, steps // STEPS_A_RUN, listed=False)
        write(listed, steps // STEPS_A_RUN, listed=True)
        print(f"{steps:,} steps, {lines.stat().st_size / 1e6:,.0f} MB")
        plain = None
        for what, path in [("json.loads", lines), ("read", lines), ("convert", lines),
                           ("read a list", listed), ("score", lines), ("score, all", lines)]:
            done = subprocess.run([sys.executable, __file__, "--one", what, path], text=True,
                                  cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.split()
            met, seconds, memory = int(done[0]), float(done[1]), float(done[2])
            plain = plain or seconds
            print(f"{what:12} {path.stat().st_size / 1e6 / seconds:8,.1f} MB/s "
                  f"{met / seconds:12,.0f} steps/s {seconds / plain:7,.1f} x "
                  f"{memory:8,.1f} MB more memory", flush=True)


if __name__ == "__main__":
    sys.argv[1:] = sys.argv[1:] or ["100000"]
    main()
