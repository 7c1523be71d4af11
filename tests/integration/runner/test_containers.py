"""A program that is not under the limits of its run is refused, since nothing of it is measured."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.runner.launcher import RunContext
from sizer.runner.processes import client_in
from sizer.words.failures import failure_in_words

pytestmark = [pytest.mark.root, pytest.mark.slow]

CONTAINED = (
    "it runs in a container (docker), which is started by a service outside of the limits of the run: give the command "
    "that the container runs"
)
RATES = "#!/bin/sh\nwhile true; do sleep 0.05; echo rate 5000.0; done\n"
"""The client of a container relays what is printed in it."""


@pytest.fixture
def context(context: RunContext, tmp_path: Path) -> RunContext:
    return replace(context, environment={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """A client by its name and by what it is told."""
    path = tmp_path / "docker"
    path.write_text(RATES)
    path.chmod(0o755)
    return path


def test_a_container_is_refused_before_it_is_started(measure: Callable[..., Run], tmp_path: Path) -> None:
    """Whether there is such a program or not."""
    run = measure("/nowhere/docker", "run", "--rm", "image", "python", "train.py")
    assert run.outcome is Outcome.REFUSED
    assert failure_in_words(run) == CONTAINED
    assert not (tmp_path / "run.log").exists()


def test_a_container_is_found_behind_a_script(measure: Callable[..., Run], client: Path) -> None:
    """As soon as it is waited for, and long before the run would end."""
    run = measure("sh", "-c", f"{client} run image; true", seconds=600.0)
    assert run.outcome is Outcome.REFUSED
    assert failure_in_words(run) == CONTAINED
    assert run.wall_seconds < 300


def test_an_image_that_is_pulled_is_no_container(measure: Callable[..., Run], client: Path) -> None:
    """Nor is a program that is only called so."""
    run = measure("sh", "-c", f"{client} pull image; true", seconds=4.0)
    assert run.outcome is Outcome.COMPLETED, failure_in_words(run)


@pytest.mark.parametrize(
    ("argv", "client"),
    [
        (("docker", "run", "image"), "docker"),
        (("/usr/bin/podman", "--log-level=info", "exec", "name", "sh"), "podman"),
        (("docker", "compose", "up"), "docker"),
        (("docker", "build", "."), None),
        (("docker", "build", "-t", "run", "."), None),
        (("docker", "--context", "far", "container", "run", "image"), "docker"),
        (("kubectl", "-n", "exec", "exec", "pod", "--", "python", "train.py"), "kubectl"),
        (("kubectl", "get", "pods"), None),
        (("ctr", "-n", "k8s.io", "tasks", "exec", "name", "sh"), "ctr"),
        (("./run", "docker", "run"), None),
    ],
)
def test_clients_are_known_by_name_and_by_what_they_are_told(argv: tuple[str, ...], client: str | None) -> None:
    """To build an image is no run of a program."""
    assert client_in(argv) == client
