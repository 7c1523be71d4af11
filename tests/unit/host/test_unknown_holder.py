"""What is said of the lock on a host where little can be known."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from sizer.host import lock
from sizer.records.messages import HostError
from sizer.words.language import in_words


@pytest.fixture
def name() -> str:
    return f"\0sizer-unknown-{os.getpid()}-"


def refusal(name: str, folder: Path) -> str:
    with pytest.raises(HostError) as refused, lock.measuring_alone(name, folder):
        pytest.fail("the host was not free")
    return in_words(refused.value)


def test_a_holder_whose_command_is_hidden_is_named_by_its_pid(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hidepid /proc does not show its command line, and the pid alone is enough to end it."""

    def hidden(_path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with lock.measuring_alone(name, tmp_path / "sizer"):
        monkeypatch.setattr(Path, "read_bytes", hidden)
        said = refusal(name, tmp_path / "sizer")
    assert f"(process {os.getpid()})" in said
    assert said.endswith(f"kill {os.getpid()}")


def test_a_name_that_cannot_be_had_is_no_other_sizer(tmp_path: Path) -> None:
    """The system's own reason is said, not that somebody measures."""
    said = refusal("/nowhere/at/all", tmp_path / "no" / "such")
    assert said == "This host cannot be locked for measuring (No such file or directory)."


def test_where_the_kernel_does_not_say_nobody_measures(name: str, tmp_path: Path) -> None:
    """Without /proc/net there is no list to look into."""
    assert not lock.is_host_measured(name, tmp_path / "none", tmp_path)
