"""A program that is not under the limits of its run is refused, since nothing of it is measured."""

from __future__ import annotations

from collections.abc import Callable
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


def test_a_container_is_refused(measure: Callable[..., Run], context: RunContext, tmp_path: Path) -> None:
    """Before it is started, whether there is such a program or not; behind a script as soon as it is waited for, and
    long before the run would end. An image that is pulled is none."""
    run = measure("/nowhere/docker", "run", "--rm", "image", "python", "train.py")
    assert (run.outcome, failure_in_words(run)) == (Outcome.REFUSED, CONTAINED)
    assert not context.log_path.exists()
    client = tmp_path / "docker"
    client.write_text(RATES)
    client.chmod(0o755)
    run = measure("sh", "-c", f"{client} run image; true", seconds=600.0)
    assert (run.outcome, failure_in_words(run)) == (Outcome.REFUSED, CONTAINED)
    assert run.wall_seconds < 300
    run = measure("sh", "-c", f"{client} pull image; true")
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
