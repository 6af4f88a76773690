"""The kernels that run chapters: unheard, and started only where they can be reached.

Decision: what a kernel says on its own stderr is about its sockets and its
signals, never about a chapter, whose errors come back in the notebook.
Refusal: nothing is run here, and nothing is sent.
"""

from __future__ import annotations

import socket
import subprocess

from jupyter_client import AsyncKernelManager

from tjlib.trace import InputError

__all__ = ["QuietKernelManager", "need_loopback"]


class QuietKernelManager(AsyncKernelManager):
    """Starts kernels whose own stderr goes nowhere; what a cell writes there is kept."""

    def start_kernel(self, **options):
        """Start the kernel; options as for any kernel manager."""
        return super().start_kernel(**options, stderr=subprocess.DEVNULL)


def need_loopback() -> None:
    """Raise `InputError` where kernels could not be reached: they speak over the loopback.

    Without it a start would hang for a minute and end in a traceback.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("127.0.0.1", 9))  # sends nothing: a route is looked up
    except OSError as error:
        raise InputError(f"no loopback network here (127.0.0.1: {error.strerror}), and kernels "
                         "need one; bring it up: ip link set lo up") from None
