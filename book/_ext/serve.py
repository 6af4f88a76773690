"""Show the built book on this machine: ``python serve.py FOLDER PORT``.

Decision: the standard library's server, on the loopback only. Refusal: a port
that cannot be had is one line with what to do, never another port.
"""

from __future__ import annotations

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["main"]


def main(folder: str, port: str) -> str | None:
    """Serve a folder until Ctrl-C; return what is wrong if that cannot be done."""
    if not port.isdecimal() or int(port) > 65535:
        return f"make serve: PORT={port} is no port; give a number, such as make serve PORT=8001"
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", int(port)), handler)
    except OSError as error:
        return (f"make serve: port {port}: {error.strerror}; "
                "choose another, such as make serve PORT=8001")
    with server:
        print(f"The book is on http://127.0.0.1:{server.server_port} until Ctrl-C.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
