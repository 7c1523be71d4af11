"""What is said of the lock on a host where little can be known."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from sizer.host import lock
from sizer.records import HostError
from sizer.words import in_words


@pytest.fixture
def name() -> str:
    return f"\0sizer-unknown-{os.getpid()}"


def refusal(name: str) -> str:
    with pytest.raises(HostError) as refused, lock.measuring_alone(name):
        pytest.fail("the host was not free")
    return in_words(refused.value)


def test_a_holder_that_cannot_be_asked_is_waited_for(name: str) -> None:
    """It has the name and does not listen: there is no pid to end."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(name)
        said = refusal(name)
    assert said == "Another sizer is measuring on this host, and two would disturb each other; wait for it."


def test_a_holder_whose_command_is_hidden_is_named_by_its_pid(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hidepid /proc does not show its command line, and the pid alone is enough to end it."""

    def hidden(_path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with lock.measuring_alone(name):
        monkeypatch.setattr(Path, "read_bytes", hidden)
        said = refusal(name)
    assert f"(process {os.getpid()})" in said
    assert said.endswith(f"kill {os.getpid()}")


def test_a_name_that_cannot_be_had_is_no_other_sizer() -> None:
    """The system's own reason is said, not that somebody measures."""
    said = refusal("/nowhere/at/all")
    assert said == "This host cannot be locked for measuring (No such file or directory)."
