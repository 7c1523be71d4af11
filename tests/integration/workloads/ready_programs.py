"""Runs `python -m workloads.MODULE` in processes that are forked from one which has imported the frameworks already.

Their import takes seconds of CPU time, and tests run a hundred programs.
"""

from __future__ import annotations

import json
import os
import runpy
import socket
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from subprocess import Popen

from tests import ROOT
from workloads.backends import mxnet_library
from workloads.faults import Unavailable

MOST_BYTES = 1 << 16


class Ready:
    """The process that forks programs, one after the other, until it is closed."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        argv = [sys.executable, "-m", __name__, str(theirs.fileno())]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = Popen(argv, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()])
        theirs.close()

    def begin(self, module: str, options: Sequence[str], variables: dict[str, str], descriptors: Sequence[int]) -> int:
        """Fork a program with these files as stdout, stderr and event pipe; its process id."""
        request = json.dumps([module, *options, variables]).encode()
        socket.send_fds(self._connection, [request], descriptors)
        return int(self._connection.recv(MOST_BYTES))

    def wait(self) -> int:
        """The exit status of that program, negative for a signal."""
        return int(self._connection.recv(MOST_BYTES))

    def close(self) -> None:
        self._connection.close()
        self._process.wait()


def serve(connection: socket.socket) -> None:
    """Fork what is asked for, tell its process id, and then how it ended."""
    while True:
        request, descriptors, _, _ = socket.recv_fds(connection, MOST_BYTES, 3)
        if not request:
            return
        process = os.fork()
        if process == 0:
            connection.close()
            os._exit(run(json.loads(request), descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(str(process).encode())
        connection.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())


def run(request: list[str | dict[str, str]], descriptors: list[int]) -> int:
    """Run a program in this process; its exit status."""
    module, *options, variables = request
    for number, descriptor in enumerate(descriptors[:2], start=1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    assert isinstance(variables, dict)
    os.environ.update(variables, SIZER_EVENTS_FD=str(descriptors[2]))
    sys.argv[1:] = map(str, options)
    code: object = 0
    try:
        runpy.run_module(f"workloads.{module}", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    with suppress(Unavailable):
        mxnet_library.load()
    for framework in ("cv2", "torch"):
        with suppress(ImportError):
            import_module(framework)
    serve(socket.socket(fileno=int(sys.argv[1])))
