"""Whatever is in a file that sizer reads: one sentence, the right exit code, nothing written."""

from __future__ import annotations

from collections.abc import Iterator

import fuzz_sandbox
import pytest
from fuzz import fuzz
from fuzz_sandbox import Case, CaseVerdict, Sandbox, listing
from fuzz_targets import STUDY, targets, write_files

pytestmark = pytest.mark.slow

CASES = {
    "study.yaml": 6,
    "study.yaml, resolved": 6,
    "runs/<id>.json": 5,
    "host.json": 5,
    "model.json": 2,
    "recommendation.json": 2,
    "predict --at": 6,
    "catalogue": 6,
    "catalogue, import": 7,
    "price lists": 5,
    "family's tables": 3,
    "predict --calibrate": 3,
    "import": 5,
    "arguments": 6,
}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return write_files(tmp_path_factory.mktemp("fuzz") / "files")


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too slow the benchmark judges: beside other programs the same work takes several times the CPU time."""
    monkeypatch.setattr(fuzz_sandbox, "SLOW_SECONDS", 5 * fuzz_sandbox.SLOW_SECONDS)


@pytest.fixture(autouse=True)
def _short_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is of another model, and asking it for every point of its curves is most of what a page takes."""
    monkeypatch.setattr("sizer.bundled.reports.figures.series.POINTS", 6)


@pytest.fixture(autouse=True)
def _the_sandbox_stays_as_it_was(sandbox: Sandbox) -> Iterator[None]:
    before = listing(sandbox.root)
    yield
    assert listing(sandbox.root) == before


@pytest.mark.parametrize("name", CASES)
def test_a_spoiled_file_is_read_or_refused_in_words(sandbox: Sandbox, name: str) -> None:
    """No case of any target ends in a traceback, a wrong exit code, a wait, or a change on disk."""
    target = next(target for target in targets(sandbox.root) if target.name == name)
    failed: list[CaseVerdict] = []
    row = fuzz(sandbox, target, CASES[name], 1, failed.append)
    assert not failed, f"{failed[0].case.words}: {failed[0].kind}: {failed[0].faults}; {failed[0].case.content!r}"
    assert row.counts["cases"] >= CASES[name]


def test_every_target_is_in_the_quick_part(sandbox: Sandbox) -> None:
    """A file that sizer learns to read is fuzzed in CI, too."""
    assert [target.name for target in targets(sandbox.root)] == list(CASES)


def _spoiled_run(sandbox: Sandbox, old: bytes, new: bytes, *words: str) -> CaseVerdict:
    path = sorted((sandbox.root / STUDY / "runs").glob("*.json"))[0]
    content = path.read_bytes()
    assert old in content
    place = str(path.relative_to(sandbox.root))
    return sandbox.judge(Case("run", place, content.replace(old, new, 1), words, frozenset({0})))


def test_one_bad_run_does_not_cost_the_others(sandbox: Sandbox) -> None:
    """It is named on stderr and left out, and the rest is answered."""
    verdict = _spoiled_run(sandbox, b'"wall_seconds": 9.5', b'"wall_seconds": 1e308', "fit", STUDY)
    assert verdict.faults == ()
    assert verdict.ended.code == 0
    assert verdict.ended.err.startswith("left out: study/runs/")
    assert "wall_seconds: expected 0 or a number from 1e-60 to 1e+60, found 1e+308" in verdict.ended.err
    assert "train" in verdict.ended.out


def test_the_fuzzer_sees_what_it_looks_for(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of sizer that ends in a sentence is counted with its traceback; a file more in the sandbox after a
    command that was refused; an exit code that is none of the promise's, and a sentence that does not name the
    file."""
    verdict = sandbox.judge(Case("x", "new.yaml", b"name: [", ("init", "more.yaml"), frozenset({0})))
    assert (verdict.kind, "more.yaml" in verdict.faults[0]) == ("written", True)
    verdict = sandbox.judge(Case("x", "new.yaml", b"name: [", ("status", "nowhere"), frozenset({0})))
    assert verdict.kind == "wrong"
    assert any("exit code 2, which is none of [0]" in fault for fault in verdict.faults)
    assert any("does not say in which file" in fault for fault in verdict.faults)
    monkeypatch.setattr("sizer.api.fitted_model.fitted", lambda _: 1 / 0)
    verdict = _spoiled_run(sandbox, b"9.5", b"9.6", "fit", STUDY)
    assert (verdict.kind, "ZeroDivisionError" in verdict.faults[0]) == ("tracebacks", True)
