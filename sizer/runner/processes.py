"""What runs below the program of a run, seen from outside: clients of containers, and users of a framework.

A program in a container, or another service's, is not in the group of the run that starts it: what is started is a
client, and the daemon behind it starts the program among its own children, under limits of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

CLIENTS = frozenset(
    {
        "docker",
        "docker-compose",
        "podman",
        "podman-compose",
        "nerdctl",
        "ctr",
        "crictl",
        "kubectl",
        "oc",
        "lxc",
        "incus",
        "machinectl",
    }
)
STARTING = frozenset({"run", "exec", "start", "up", "attach", "shell"})
"""What these are told in order to run a program; to pull or build an image is none of that."""

GROUPS = frozenset({"compose", "container", "containers", "task", "tasks", "t", "c"})
"""What may stand before that."""

WITH_VALUE = frozenset(
    {"-H", "--host", "-c", "--context", "--config", "-l", "--log-level", "-n", "--namespace", "-a", "--address"}
    | {"--kubeconfig", "--connection", "--url", "-f", "--file", "-p", "--project-name", "--project-directory"}
    | {"--profile", "--env-file", "-s", "--server", "--root", "-r", "--runtime-endpoint", "-M", "--machine"}
)
"""Options whose value is the next word."""

CLIENT_SECONDS = 2.0
"""A client that lives for longer waits for a program; one that only starts a service, such as a database, is gone."""


def client_in(argv: Sequence[str]) -> str | None:
    """The name of the client that a command line is of; None where it starts no container."""
    name = Path(argv[0]).name
    return name if name in CLIENTS and _is_starting(argv[1:]) else None


def _is_starting(words: Sequence[str]) -> bool:
    """Whether the first word that is neither an option nor the value of one says so."""
    others = iter(words)
    for word in others:
        if word in WITH_VALUE:
            next(others, None)
        elif not word.startswith("-") and word not in GROUPS:
            return word in STARTING
    return False


class ClientsBelow:
    """Looks for clients among the descendants of a process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since: dict[int, float] = {}

    def poll(self, now: float) -> str | None:
        """The name of one that has been seen for CLIENT_SECONDS; about 20 us a process."""
        clients = {pid: name for pid in tree(self._pid) if (name := _client(pid)) is not None}
        self._since = {pid: self._since.get(pid, now) for pid in clients}
        return next((clients[pid] for pid, since in self._since.items() if now - since >= CLIENT_SECONDS), None)


def tree(pid: int) -> Iterator[int]:
    """A process and what its main thread, and those of its children, started."""
    yield pid
    children: list[str] = []
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for child in children:
        yield from tree(int(child))


def _client(pid: int) -> str | None:
    """The name, also of a client that is a script: the kernel calls a process as the file that was executed."""
    with suppress(OSError):
        name = Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
        if name in CLIENTS:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            own = next((index for index, word in enumerate(words) if Path(word).name == name), 0)
            return name if _is_starting(words[own + 1 :]) else None
    return None


LIBRARIES = (b"/libtorch_cpu.so", b"/libmxnet.so")
"""What a process has mapped that imported PyTorch or MXNet."""

MOST_PROCESSES = 8
"""That are looked at each time; about 0.3 ms each."""


def uses_framework(pids: Iterable[int]) -> bool:
    """Whether one of these is a Python that imported PyTorch or MXNet."""
    return any(_imported(pid) for pid in islice(pids, MOST_PROCESSES))


def _imported(pid: int) -> bool:
    with suppress(OSError):
        if Path(f"/proc/{pid}/exe").readlink().name.startswith(("python", "pypy")):
            mapped = Path(f"/proc/{pid}/maps").read_bytes()
            return any(library in mapped for library in LIBRARIES)
    return False
