"""The command line, and how a command that fails ends.

Decision: bad input and a failed run are one line on stderr and exit 1. Refusal: nothing is done
here; `tjlib.usage` has the arguments, the commands have a function each.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from tjlib import commands
from tjlib.trace import InputError
from tjlib.usage import parser

__all__ = ["main"]


def _drop_output() -> None:
    """Keep the interpreter from complaining at exit of what it cannot write."""
    with suppress(OSError, ValueError):  # captured output has no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Default the process's arguments.

    Returns
    -------
    int
        0 done, 1 the input or the run failed, 130 interrupted; wrong usage
        leaves through argparse with 2.
    """
    # Without a stream there is nobody to tell; where its encoding lacks a character, escape it.
    sys.stdout, sys.stderr = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    args = parser().parse_args(argv)
    logging.basicConfig(format="tjlib: %(message)s", level=logging.WARNING)
    try:
        args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # the reader left (a pager, head)
    except InputError as error:
        print("tjlib:", *str(error).splitlines(), file=sys.stderr)
        return 1
    except OSError as error:
        print("tjlib:", InputError.of(error), file=sys.stderr)
        _drop_output()  # it may be what failed
        return 1
    except commands.UsageError as error:
        args.refuse(str(error))
    except KeyboardInterrupt:
        goes_on = args.run in (commands.judge, commands.agent, commands.guided, commands.fetch)
        then = ("what is written is whole, the same command goes on from there" if goes_on
                else "the same command starts over")
        print("tjlib: interrupted;", then, file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
