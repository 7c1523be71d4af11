"""Study folders that are not to be written or read, and forms of schema 1 that are no run's."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.files.writing import ASIDE_SUFFIX
from sizer.records.errors import HostError, InputError
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.study import Study, Workload, WorkloadPlan
from sizer.store import schema_1, study_folder, unsaved
from sizer.store.continuing import refuse_other_study
from sizer.store.stored_runs import StoredRuns
from sizer.store.study_folder import StudyFolder, current_run
from sizer.words.language import in_words

HOST = {"cpu_model": "EPYC", "cpus": 2, "memory_bytes": 2**34}
STUDY = Study("s", (WorkloadPlan(Workload("train", "image_training"), (32,), (1.0, 2.0)),))


def make(path: Path, study: Study = STUDY) -> StudyFolder:
    with StudyFolder.create(path, study, HOST) as folder:
        return folder


def test_a_file_is_no_place_for_a_study(tmp_path: Path) -> None:
    """The option that chooses another is named."""
    (tmp_path / "s").write_text("")
    with pytest.raises(InputError, match=f"{tmp_path}/s is a file; choose a folder with --out"):
        make(tmp_path / "s")


def test_imported_measurements_are_not_added_to(tmp_path: Path) -> None:
    """What was measured elsewhere does not mix with runs of this host."""
    imported = Study("s", (WorkloadPlan(Workload("train", "imported"), (32,), (1.0, 2.0)),))
    make(tmp_path / "s", imported)
    with pytest.raises(InputError, match="contains imported measurements; choose another folder with --out"):
        make(tmp_path / "s")


def test_other_embedded_images_are_another_study() -> None:
    """Runs over 400 images and over 800 are not alike in what the page cache holds."""
    refuse_other_study("s", STUDY, STUDY)
    with pytest.raises(InputError, match="was measured with `embedded_images: 400` and the study says 800"):
        refuse_other_study("s", replace(STUDY, embedded_images=400), replace(STUDY, embedded_images=800))


def test_notes_that_are_no_list_are_not_sizers(tmp_path: Path) -> None:
    """A host.json that was edited is named with what is wrong."""
    make(tmp_path / "s")
    host = tmp_path / "s" / "host.json"
    host.write_text(json.dumps({**json.loads(host.read_text()), "notes": "busy"}))
    with pytest.raises(InputError, match="notes is not a list"):
        StudyFolder.open(tmp_path / "s")


@pytest.mark.parametrize(("call", "verb"), [(StudyFolder.open, "read"), (make, "written")])
def test_what_the_system_refuses_is_said(
    call: Callable[[Path], object], verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount that is gone, say: the folder, the reason, and to choose another."""

    def gone(_path: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(study_folder, "refuse_what_leads_elsewhere", gone)
    with pytest.raises(HostError, match=rf"cannot be {verb} \(Input/output error\); choose another folder"):
        call(tmp_path / "s")


def test_no_run_goes_on_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    """Somebody removed it while it was looked at."""
    folder = make(tmp_path / "s")
    (tmp_path / "s" / ".lock").unlink()
    assert current_run(folder) is None


def test_a_run_that_cannot_be_looked_at_is_a_problem_of_its_own(
    tmp_path: Path, make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are read."""
    with StudyFolder.create(tmp_path / "s", STUDY, HOST) as folder:
        folder.add(make_run(100.0))
    (path,) = (tmp_path / "s" / "runs").glob("*.json")
    looked = Path.lstat

    def hidden(self: Path) -> os.stat_result:
        if self == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return looked(self)

    monkeypatch.setattr(Path, "lstat", hidden)
    assert in_words(StoredRuns(path.parent)._read(path)) == f"{path}: cannot be read (Permission denied)"


def test_what_was_half_written_in_the_cache_goes_with_its_runs(tmp_path: Path, make_run: Callable[..., Run]) -> None:
    """A sizer that was killed while it kept a run left a file beside it."""
    kept = unsaved.keep_unsaved(make_run(100.0), tmp_path / "s", HOST, tmp_path / "cache")
    (kept.parent / f".{kept.name}{ASIDE_SUFFIX}").write_text("{")
    assert unsaved.take_back(tmp_path / "s", HOST, tmp_path / "cache", lambda _run: True) == 1
    assert not kept.parent.exists()


@pytest.mark.parametrize(
    "form", [{"untold": "vcpus", "spec": {}, "configuration": {}}, {"untold": ["vcpus"], "spec": 3}, {"a": 1}]
)
def test_a_form_that_is_no_runs_is_left_to_the_reader(form: dict[str, object]) -> None:
    """Only its own columns are taken from it, and the reader says what is wrong with the rest."""
    assert schema_1._without_untold(form) == {key: value for key, value in form.items() if key != "untold"}


def test_evidence_that_is_none_is_left_to_the_reader() -> None:
    """Without a reason or shares there is nothing to translate."""
    for form in ({"reason": 3, "busy": {}}, {"reason": "busy", "busy": 1}, {}):
        assert schema_1._evidence(form) == form


def test_a_sentence_with_a_figure_that_is_none_is_kept_as_it_is() -> None:
    """A number that was edited to nonsense is not guessed."""
    sentence = "contended: something else on this host used 1.2.3 cores meanwhile"
    assert schema_1.warning_of(sentence) == RunWarning(WarningKind.CONTENDED, text=sentence)
