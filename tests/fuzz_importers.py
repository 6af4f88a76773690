"""Fuzz every importer with atheris: whatever the bytes, runs and reasons come out.

    python tests/fuzz_importers.py FOLDER [libFuzzer's options, such as -max_total_time=60]

FOLDER takes the inputs that reach new code; the written logs are the start.
Half of the inputs are bytes of a file; the other half are written logs in
which the bytes replace values, since bytes alone seldom come to be JSON.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["tjlib"]):
    from tjlib.documents import Unread, documents
    from tjlib.formats.imported import Imported
    from tjlib.formats.registry import FORMATS, Passed, stream
    from tjlib.trace import InputError, to_json

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.json*"))
LOGS = [[item.value for item in documents(path)] for path in EXAMPLES]
JUNK = [None, True, -1, 1.5, "", "assistant", [], {}, [None], {"role": "tool"}, "\0\u202e", 10**30]


def changed(value, data):
    """Copy a value, with something else in the places that the data chooses."""
    if data.ConsumeIntInRange(0, 15) == 0 and data.remaining_bytes():
        at = data.ConsumeIntInRange(0, len(JUNK))
        return JUNK[at] if at < len(JUNK) else data.ConsumeUnicodeNoSurrogates(8)
    if isinstance(value, dict):
        return {key: changed(item, data) for key, item in value.items()}
    return [changed(item, data) for item in value] if isinstance(value, list) else value


def one_input(raw, path):
    """Read one hostile log by what it looks like and by every name."""
    data = atheris.FuzzedDataProvider(raw)
    if data.ConsumeBool():
        path.write_bytes(data.ConsumeBytes(data.remaining_bytes()))
        formats = ["auto"]
    else:
        log = LOGS[data.ConsumeIntInRange(0, len(LOGS) - 1)]
        values = [changed(value, data) for value in log]
        path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
        formats = ["auto", *FORMATS]
    for format in formats:
        with contextlib.suppress(InputError):
            for item in stream(path, format):
                assert isinstance(item, Imported | Unread | Passed | str), item
                if isinstance(item, Imported):
                    to_json(item.trajectory)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "log"
        for path in EXAMPLES:
            (Path(sys.argv[1]) / path.name).write_bytes(b"\1" + path.read_bytes())
        atheris.Setup(sys.argv, lambda raw: one_input(raw, target))
        atheris.Fuzz()
