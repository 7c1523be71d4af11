"""What the environment of a command gets for the hook, and which options of Python keep it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.runner.hooking import HOOK, shut_out_by, with_events

FIFO = Path("/tmp/run/events")


def test_the_hook_is_first_on_the_path() -> None:
    """What the user has there comes after it; an empty entry, which is the current folder, is not made."""
    assert with_events({}, FIFO, True) == {"SIZER_EVENTS_PATH": str(FIFO), "PYTHONPATH": str(HOOK)}
    assert with_events({"PYTHONPATH": "/mine:/yours"}, FIFO, True)["PYTHONPATH"] == f"{HOOK}:/mine:/yours"
    assert "PYTHONPATH" not in with_events({}, FIFO, False)
    assert (HOOK / "sitecustomize.py").is_file()


def test_a_batch_size_that_the_study_gives_is_told_to_the_hook() -> None:
    """One of 1 is what every study has that says nothing."""
    assert with_events({}, FIFO, True, 64)["SIZER_BATCH_SIZE"] == "64"
    assert "SIZER_BATCH_SIZE" not in {**with_events({}, FIFO, True, 1), **with_events({}, FIFO, False, 64)}


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["python", "train.py"], None),
        (["python3.11", "-I", "train.py"], "-I"),
        (["/usr/bin/python3", "-uE", "train.py"], "-E"),
        (["env", "A=1", "python", "-S", "-m", "train"], "-S"),
        (["python", "-W", "ignore", "-I", "train.py"], "-I"),
        (["python", "-X", "dev", "train.py", "-I"], None),
        (["python", "-c", "print('-I')", "-S"], None),
        (["python", "-m", "train", "-E"], None),
        (["python", "-Werror::Exception", "train.py"], None),
        (["python", "-cprint(1)", "-S"], None),
        (["python", "-"], None),
        (["python"], None),
        (["python", "--check-hash-based-pycs", "always", "-s", "-S", "x.py"], "-S"),
        (["pypy3", "-E", "x.py"], "-E"),
        (["bash", "-I", "run.sh"], None),
        ([], None),
    ],
)
def test_options_that_keep_the_hook_out(command: list[str], option: str | None) -> None:
    """Only Python's own, before the program's name."""
    assert shut_out_by(command) == option
