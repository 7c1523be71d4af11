"""recommend with a deadline, gates and a baseline, as a person or a CI job types it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.cli import main
from tests.end_to_end.conftest import Typed


@pytest.fixture
def study(folder: Path, store_knee: Callable[[Path], Path]) -> Path:
    return store_knee(folder / "s")


@pytest.mark.usefixtures("study")
def test_a_gate_that_is_not_met_is_exit_code_6(sizer: Typed) -> None:
    """Its verdict is one sentence on stderr; stdout stays what it was."""
    plain = sizer("recommend", "s", "--json")
    gated = sizer("recommend", "s", "--json", "--fail-if", "throughput<500", "--fail-if", "train:vcpus>8")
    assert (plain.returncode, gated.returncode) == (0, 6)
    assert gated.stdout == plain.stdout
    first, second = gated.stderr.splitlines()
    assert re.fullmatch(
        r"sizer: gate not met \(fail if throughput<500\): train: throughput is (29\d|30\d) images/s", first
    )
    assert second == "sizer: gate met (fail if train:vcpus>8): train: vcpus is 4"
    assert sizer("recommend", "s", "--fail-if", "vcpus>8").returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-if", "speed<3"], "there is no figure `speed`; use status"),
        (["--fail-if", "job_usd>3"], "add --samples 1.2M --within 6h"),
        (["--within", "2h"], "--within needs to know of how many samples"),
        (["--checkpoint-minutes", "10"], "Use --interruptions-per-hour and --checkpoint-minutes together"),
        (["--samples", "1M", "--within", "2h", "--target", "0.9"], "leave out --objective and --target"),
        (["--within", "soon", "--samples", "1M"], "'soon' is not a time; write a number and its unit, such as 90s"),
        (["--within", "6h", "--samples", "-3"], "'-3' is not a number of samples"),
        (["--within", "6h", "--samples", "many"], "'many' is not a number of samples"),
        (["--at-least", "0"], "'0' is not a rate; write samples a second, above 0"),
        (["--baseline", "aws/c6i.larg"], "did you mean `aws c6i.large`?"),
    ],
)
def test_what_cannot_be_meant_is_exit_code_2(
    study: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """With what to type instead, and nothing on stdout."""
    try:
        code: object = main(["recommend", str(study), *words])
    except SystemExit as ended:
        code = ended.code
    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    assert said in output.err
    assert "Traceback" not in output.err


def test_a_deadline_is_asked_for_and_published(sizer: Typed, study: Path) -> None:
    """The JSON says what was asked for; the study keeps its own answer."""
    sizer("recommend", "s")
    before = (study / "recommendation.json").read_text()
    done = sizer("recommend", "s", "--samples", "4.2M", "--within", "7h", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["objective"], found["deadline"]) == ("deadline", {"samples": 4.2e6, "seconds": 7 * 3600.0})
    (answer,) = found["workloads"]
    assert answer["spec"]["vcpus"] == 2
    assert set(answer["job"]) == {"samples", "within", "seconds", "probability", "usd", "instance_type"}
    assert (study / "recommendation.json").read_text() == before
