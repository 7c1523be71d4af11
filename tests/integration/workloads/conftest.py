"""Programs run as a person or the launcher runs them, on a small data set made once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from sizer.limits.interface import Group
from tests import ROOT
from tests.integration.workloads.ready_programs import Ready

IMAGES = 12


@dataclass(frozen=True)
class Ended:
    """How a program ended, what it printed and which events it wrote."""

    code: int
    out: str
    err: str
    events: list[dict[str, Any]]

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == "step"]


Run = Callable[..., Ended]


def run_program(
    ready: Ready,
    module: str,
    *options: object,
    terminate_after_steps: int | None = None,
    within: Group | None = None,
    **variables: str,
) -> Ended:
    """Run `python -m workloads.MODULE` with an event pipe, in a group of its own if one is given; SIGTERM after some
    steps if asked for."""
    receiver, sender = os.pipe()
    events, steps = [], 0
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        if within is None:
            pid = ready.begin(module, list(map(str, options)), variables, (out.fileno(), err.fileno(), sender))
            wait = ready.wait
        else:
            process = subprocess.Popen(
                within.command([sys.executable, "-m", f"workloads.{module}", *map(str, options)]),
                cwd=ROOT,
                env={**os.environ, "SIZER_EVENTS_FD": str(sender), "OMP_NUM_THREADS": "1", **variables},
                pass_fds=(sender,),
                stdout=out,
                stderr=err,
            )
            pid, wait = process.pid, process.wait
        os.close(sender)
        with open(receiver) as lines:
            for line in lines:
                events.append(json.loads(line))
                steps += events[-1]["event"] == "step"
                if terminate_after_steps is not None and steps == terminate_after_steps:
                    os.kill(pid, signal.SIGTERM)
                    terminate_after_steps = None
        code = wait()
        for file in (out, err):
            file.seek(0)
        return Ended(code, out.read(), err.read(), events)


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    ready = Ready()
    yield partial(run_program, ready)
    ready.close()


@pytest.fixture(scope="session")
def jpegs(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a few embedded images."""
    folder = tmp_path_factory.mktemp("embedded") / "images"
    ended = run("embedded_data", "images", "--count", IMAGES, "--out", folder)
    assert ended.code == 0, ended.err
    return folder


@pytest.fixture(scope="session")
def records(run: Run, jpegs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same images as RecordIO and LMDB, in one folder."""
    folder = tmp_path_factory.mktemp("packed")
    for form in ("recordio", "lmdb"):
        ended = run("imagenet_preprocessing", "--data", jpegs, "--output", folder, "--format", form)
        assert ended.code == 0, ended.err
    return folder


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short text of PennTreeBank's form."""
    folder = tmp_path_factory.mktemp("text")
    (folder / "ptb.train.txt").write_text(" the cat sat on <unk> N mats \n a dog did n't \n" * 400)
    return folder
