"""A study folder."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median

import pytest

from sizer.api.conclusions import conclude
from sizer.files.writing import ASIDE_SUFFIX
from sizer.plan.run_order import plan, remaining
from sizer.records.messages import HostError, InputError
from sizer.records.notes import Note, NoteKind
from sizer.records.prediction import Configuration
from sizer.records.run import Run, Sample
from sizer.records.run_kinds import Outcome
from sizer.records.study import Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.store import study_folder, unsaved
from sizer.store.content import FILES, WATCHED, is_watched, mark_watched, unmark_watched
from sizer.store.continuing import refuse_other_study
from sizer.store.stored_runs import StoredRuns
from sizer.store.study_folder import StudyFolder, current_run, refuse_unusable
from sizer.study.presets import HostSize
from sizer.words.language import in_words
from tests import ROOT

HOST = {"cpu_model": "EPYC", "cpus": 2}
STUDY = Study(
    "s", (WorkloadPlan(Workload("train", "image_training", network="resnet50", format="recordio"), (32,), (1.0, 2.0)),)
)
SPECS = plan(STUDY, HostSize(2, 2**30))


def run(spec: RunSpec, outcome: Outcome = Outcome.COMPLETED, minute: int = 0) -> Run:
    """A run that began at that minute."""
    return Run(spec, outcome, Configuration(1.0, 2**30, "host", 32), f"2026-11-21T10:{minute:02d}:00+00:00", 40.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a study folder is made."""
    return tmp_path / "a" / "study"


NOTE = Note(NoteKind.NO_MEMORY_AXIS, fix="sudo sizer demo")


def test_a_folder_holds_what_it_is_made_from(path: Path) -> None:
    """Study, host and notes come back, and the files are where they are documented."""
    with StudyFolder.create(path, STUDY, HOST, (NOTE,)) as folder:
        folder.add(run(SPECS[0]))
    opened = StudyFolder.open(path)
    assert opened.study == STUDY
    assert opened.host["cpu_model"] == "EPYC"
    assert opened.notes == (NOTE,)
    assert opened.runs() == (run(SPECS[0]),)
    assert sorted(os.listdir(path)) == [".lock", "host.json", "logs", "runs", "study.yaml"]
    assert os.listdir(path / "runs") == [f"{SPECS[0].id}.json"]
    assert folder.log_path(SPECS[0].id) == path / "logs" / f"{SPECS[0].id}.log"
    assert json.loads((path / "host.json").read_text())["schema_version"] == 2
    names = [folder.model_path, folder.recommendation_path, folder.measurements_path, folder.report_path]
    assert [name.name for name in names] == ["model.json", "recommendation.json", "measurements.csv", "report.html"]


def test_runs_come_in_the_order_in_which_they_were_measured(path: Path) -> None:
    """Two that began in the same second are told apart by their samplings, whose clock is finer."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        order = [SPECS[2], SPECS[0], SPECS[1]]
        for moment, spec in enumerate(order):
            folder.add(replace(run(spec), samples=(Sample(time=100.0 + moment / 10),)))
        assert [run.id for run in folder.runs()] == [spec.id for spec in order]


def test_finished_runs_are_kept_when_the_study_is_run_again(path: Path) -> None:
    """The same study goes on where it was, and so does one with more repeats."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(run(SPECS[0]))
        folder.add(run(SPECS[1], Outcome.INTERRUPTED))
    with StudyFolder.create(path, STUDY, HOST) as folder:
        assert remaining(SPECS, folder.runs()) == SPECS[1:]
    more = replace(STUDY, measure=Measure(repeats=4))
    with StudyFolder.create(path, more, HOST) as folder:
        planned = plan(more, HostSize(2, 2**30))
        assert remaining(planned, folder.runs()) == planned[1:]
    assert StudyFolder.open(path).study == more


@pytest.mark.parametrize(
    ("study", "host", "sentence"),
    [
        (replace(STUDY, name="t"), HOST, "contains the study `s`, not `t`"),
        (STUDY, {**HOST, "cpus": 4}, "its vCPUs: 2, here: 4"),
        (
            Study("s", (WorkloadPlan(Workload("train", "lstm_training"), (32,)),)),
            HOST,
            "another workload named `train`",
        ),
    ],
)
def test_what_would_mix_is_refused_and_nothing_is_changed(
    path: Path, study: Study, host: dict[str, object], sentence: str
) -> None:
    """The folder stays as it was."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(run(SPECS[0]))
    with pytest.raises(InputError, match=sentence), StudyFolder.create(path, study, host):
        pass
    opened = StudyFolder.open(path)
    assert (opened.study, opened.host["cpus"]) == (STUDY, 2)


def test_a_corrected_command_may_go_on(path: Path) -> None:
    """Runs that crashed are no finding about the workload."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(run(SPECS[0], Outcome.CRASHED))
    other = Study("s", (WorkloadPlan(Workload("train", "command", "other", command=("a",)), (32,)),))
    with StudyFolder.create(path, other, {**HOST, "cpus": 4}):
        pass
    assert StudyFolder.open(path).study == other


def test_check_host_tells_another_machine(path: Path) -> None:
    """`resume` asks it before it goes on."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.check_host(HOST)
        with pytest.raises(InputError, match="processor: EPYC"):
            folder.check_host({**HOST, "cpu_model": "Xeon"})


def test_a_broken_run_is_named_and_left_out(path: Path) -> None:
    """One bad file does not cost the others; a pipe holds nobody up, and a terabyte of nothing takes no memory."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(run(SPECS[0]))
        (path / "runs" / "cut.json").write_text('{"spec": ')
        (path / "runs" / "folder.json").mkdir()
        (path / "runs" / "newer.json").write_text(json.dumps({**json.loads(_text(path)), "schema_version": 99}))
        assert len(folder.runs()) == 1
        (path / "runs" / "away.json").symlink_to("nowhere")
        os.mkfifo(path / "runs" / "pipe.json")
        with (path / "runs" / "large.json").open("wb") as file:
            file.truncate(2**40)
        away, cut, folder_problem, large, newer, pipe = map(str, folder.problems())
    assert "away.json is a link where sizer keeps a file of its own" in away
    assert "cut.json is not JSON" in cut
    assert "folder.json is a folder where a file should be" in folder_problem
    assert "more than any file that sizer writes" in large
    assert "newer.json was written by a newer sizer" in newer
    assert "pipe.json is not a regular file" in pipe


def _text(path: Path) -> str:
    return (path / "runs" / f"{SPECS[0].id}.json").read_text()


def test_the_same_run_twice_counts_once(path: Path) -> None:
    """A copied file is not a second measurement; the later one counts."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(run(SPECS[0], minute=1))
        (path / "runs" / "copy.json").write_text(_text(path))
        assert folder.runs() == (run(SPECS[0], minute=1),)


def test_what_is_no_study_folder_is_told(path: Path) -> None:
    """Missing, empty with the command that makes one there, or full of other things, where none can be made."""
    with pytest.raises(InputError, match="there is no such folder"):
        StudyFolder.open(path)
    path.mkdir(parents=True)
    with pytest.raises(InputError, match=r"is not a study folder; `sizer run STUDY\.yaml --out"):
        StudyFolder.open(path)
    (path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="contains other files; give one that `sizer run` has made"):
        StudyFolder.open(path)


def test_a_place_that_takes_no_folder_is_told_before_anything_runs(path: Path) -> None:
    """In the kernel's own file systems, and below a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a file")
    for place in (Path("/proc/x"), path / "study"):
        with pytest.raises(HostError, match="cannot be written"):
            refuse_unusable(place)


def test_a_folder_with_other_things_is_left_alone(path: Path) -> None:
    """A person's own study.yaml must not be replaced by the resolved one."""
    path.mkdir(parents=True)
    (path / "study.yaml").write_text("# mine\n")
    with pytest.raises(InputError, match="contains other files"), StudyFolder.create(path, STUDY, HOST):
        pass
    assert os.listdir(path) == ["study.yaml"]
    assert (path / "study.yaml").read_text() == "# mine\n"


def test_a_file_is_no_folder(path: Path) -> None:
    """The sentence says what to do."""
    path.parent.mkdir()
    path.touch()
    with pytest.raises(InputError, match="is a file; choose a folder"), StudyFolder.create(path, STUDY, HOST):
        pass


def test_a_making_that_was_cut_short_is_taken_up(path: Path) -> None:
    """A kill between the first files leaves a folder that can still be used, and its half files are removed."""
    (path / "runs").mkdir(parents=True)
    (path / "host.json").write_text("{}")
    half = path / ".study.yaml.1f2e3d4c.tmp", path / ".reserve.tmp", path / "runs/.0123456789ab.json.1f2e3d4c.tmp"
    for leftover in half:
        leftover.touch()
    with StudyFolder.create(path, STUDY, HOST) as folder:
        assert folder.runs() == ()
        assert folder.problems() == ()
    assert sorted(os.listdir(path)) == [".lock", "host.json", "logs", "runs", "study.yaml"]
    assert os.listdir(path / "runs") == []


PRECIOUS = [".precious.tmp", ".precious.1f2e3d4c.tmp", ".study.yaml.tmp", "study.yaml.1f2e3d4c.tmp", "notes.tmp"]


@pytest.mark.parametrize("name", PRECIOUS)
def test_a_persons_own_temporary_file_is_never_removed(path: Path, name: str) -> None:
    """Only what is called exactly as sizer calls what it writes aside: a folder with others is not taken."""
    path.mkdir(parents=True)
    (path / name).write_text("mine")
    with pytest.raises(InputError, match="contains other files"), StudyFolder.create(path, STUDY, HOST):
        pass
    assert os.listdir(path) == [name]
    (path / name).unlink()
    with StudyFolder.create(path, STUDY, HOST):
        places = [path / name, path / "runs" / name, path / "runs/.report.html.1f2e3d4c.tmp"]
        for place in places:
            place.write_text("mine")
    with StudyFolder.open(path).locked():
        assert [place.read_text() for place in places] == ["mine"] * 3


@pytest.mark.parametrize("gone", [("runs",), ("logs",), ("runs", "logs")])
def test_folders_that_somebody_removed_are_made_again(path: Path, gone: tuple[str, ...]) -> None:
    """It stays a study folder: the study is read, and both commands go on with it."""
    for again in (lambda: StudyFolder.open(path).locked(), lambda: StudyFolder.create(path, STUDY, HOST)):
        with StudyFolder.create(path, STUDY, HOST) as folder:
            folder.model_path.write_text("{}")
        for name in gone:
            shutil.rmtree(path / name)
        assert folder.going_on == f"sizer resume {path}"
        assert StudyFolder.open(path).study == STUDY
        assert StudyFolder.open(path).is_stale(folder.model_path) == ("runs" in gone)
        with again() as folder:
            folder.add(run(SPECS[0]))
            assert len(folder.runs()) == 1
            assert (path / "logs").is_dir()


def test_what_a_person_calls_as_sizer_does_is_no_study_folder(path: Path) -> None:
    """Two files of those names without runs, which no sizer wrote."""
    path.mkdir(parents=True)
    (path / "study.yaml").write_text("# mine\n")
    for host in ("{}", "[1]", "not JSON"):
        (path / "host.json").write_text(host)
        with pytest.raises(InputError, match="is not a study folder and contains other files"):
            StudyFolder.open(path)
        with pytest.raises(InputError, match="contains other files"), StudyFolder.create(path, STUDY, HOST):
            pass
        assert sorted(os.listdir(path)) == ["host.json", "study.yaml"]


def test_a_folder_that_is_gone_is_gone_on_with_by_its_study(path: Path) -> None:
    """`resume` would find nothing to read; what is said instead takes the same place."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        shutil.rmtree(path)
        with pytest.raises(HostError, match=rf"then type: sizer run STUDY\.yaml --out {path} \(with the file of this"):
            folder.hold_room()
    with StudyFolder.create(path, STUDY, HOST) as folder:
        assert folder.going_on == f"sizer resume {path}"


def test_two_sizers_do_not_write_one_folder(path: Path) -> None:
    """The second is told to wait, and reading goes on."""
    with StudyFolder.create(path, STUDY, HOST):
        with pytest.raises(HostError, match="Another sizer is writing"), StudyFolder.create(path, STUDY, HOST):
            pass
        with pytest.raises(HostError, match="Another sizer is writing"), StudyFolder.open(path).locked():
            pass
    with StudyFolder.open(path).locked():
        pass


def test_a_killed_sizer_leaves_no_lock(path: Path) -> None:
    """The kernel takes the lock back, even from kill -9."""
    with StudyFolder.create(path, STUDY, HOST):
        pass
    code = (
        "import os, signal, sys; from pathlib import Path; from sizer.store.study_folder import StudyFolder\n"
        "with StudyFolder.open(Path(sys.argv[1])).locked():\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    checkout = ROOT
    killed = subprocess.run([sys.executable, "-c", code, str(path)], cwd=checkout, check=False)
    assert killed.returncode == -9
    with StudyFolder.open(path).locked():
        pass


def test_a_conclusion_is_stale_when_runs_changed_after_it(path: Path) -> None:
    """Missing, or older than the last run added, removed or the study itself."""
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(run(SPECS[0]))
        assert folder.is_stale(folder.model_path)
        folder.model_path.write_text("{}")
        later = (path / "runs").stat().st_mtime_ns + 10**9
        os.utime(folder.model_path, ns=(later, later))
        assert not folder.is_stale(folder.model_path)
        os.utime(folder.run_path(SPECS[0].id), ns=(later + 1, later + 1))
        assert folder.is_stale(folder.model_path)


def test_a_run_id_cannot_leave_the_folder(path: Path) -> None:
    """Ids become paths, so nothing else than an id is one."""
    with StudyFolder.create(path, STUDY, HOST) as folder, pytest.raises(ValueError, match="not the id"):
        folder.log_path("../../etc/passwd")


def test_a_link_is_no_study_folder(path: Path) -> None:
    """Nor is one that leads to a good folder, or nowhere: what it leads to can change between two commands."""
    with StudyFolder.create(path, STUDY, HOST):
        pass
    good, dangling = path.with_name("good"), path.with_name("dangling")
    good.symlink_to(path)
    dangling.symlink_to("nowhere")
    for link in (good, dangling):
        with pytest.raises(InputError, match="is a link; give the study folder that it points to"):
            StudyFolder.open(link)
        with pytest.raises(InputError, match="is a link"), StudyFolder.create(link, STUDY, HOST):
            pass
    assert not path.with_name("nowhere").exists()


ENTRIES = [*FILES, "runs", "logs", "runs/x.json", "runs/x.txt", "logs/x.log"]
KINDS = ["dangling link", "link to a folder", "pipe", "socket"]


@pytest.mark.parametrize(
    ("entry", "kind"), [*((entry, "link") for entry in ENTRIES), *(("model.json", kind) for kind in KINDS)]
)
def test_what_leads_elsewhere_in_a_folder_is_refused(path: Path, entry: str, kind: str) -> None:
    """A link in the place of each file that is read or written, or a pipe that no reader gets to the end of."""
    with StudyFolder.create(path, STUDY, HOST):
        pass
    victim = path.parent / "victim"
    victim.mkdir()
    (victim / "file").write_text("precious")
    place = path / entry
    if place.is_dir():
        place.rmdir()
    place.unlink(missing_ok=True)
    make = {
        "link": lambda: place.symlink_to(victim / "file"),
        "dangling link": lambda: place.symlink_to(victim / "new"),
        "link to a folder": lambda: place.symlink_to(victim),
        "pipe": lambda: os.mkfifo(place),
        "socket": lambda: os.mknod(place, stat.S_IFSOCK | 0o600),
    }
    make[kind]()
    why = "is a link where" if "link" in kind else "is not a regular file where"
    with pytest.raises(InputError, match=why):
        StudyFolder.open(path)
    with pytest.raises(InputError, match=why), StudyFolder.create(path, STUDY, HOST):
        pass
    assert os.listdir(victim) == ["file"]
    assert (victim / "file").read_text() == "precious"


@pytest.mark.parametrize("entry", ["", "runs", "logs", "study.yaml"])
def test_what_everybody_may_write_to_is_refused(path: Path, entry: str) -> None:
    """Another user could change it between the look and the run; a group is a person's own choice."""
    with StudyFolder.create(path, STUDY, HOST):
        pass
    place = path / entry
    place.chmod(0o775)
    StudyFolder.open(path)
    place.chmod(0o777)
    with pytest.raises(InputError, match=r"Everybody can write to .*; type: chmod -R o-w "):
        StudyFolder.open(path)


def test_a_folder_is_never_made_for_everybody(path: Path) -> None:
    """Not with umask 0 either."""
    before = os.umask(0)
    try:
        with StudyFolder.create(path, STUDY, HOST) as folder:
            folder.add(run(SPECS[0]))
    finally:
        os.umask(before)
    assert len(StudyFolder.open(path).runs()) == 1


def test_a_path_of_odd_characters_is_told_as_it_can_be_typed(path: Path) -> None:
    """A shell gets just the path from the sentence."""
    odd = path.parent / "a b; rm -rf $(x)"
    odd.mkdir(parents=True)
    with pytest.raises(InputError) as refused:
        StudyFolder.open(odd)
    assert shlex.split(str(refused.value).split("`")[1]) == ["sizer", "run", "STUDY.yaml", "--out", str(odd)]


def swap_for_link(path: Path, stranger: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to(stranger)


def swap_for_folder(path: Path, stranger: Path) -> None:
    path.rename(path.with_name("moved"))
    stranger.rename(path)


def swap_its_runs(path: Path, stranger: Path) -> None:
    (path / "runs").rename(path / "moved")
    (path / "runs").symlink_to(stranger / "runs")


@pytest.mark.parametrize("swap", [swap_for_link, swap_for_folder, swap_its_runs])
def test_what_is_put_in_its_place_meanwhile_is_not_written_to(
    path: Path, tmp_path: Path, swap: Callable[[Path, Path], None]
) -> None:
    """Whoever may write above a study folder can swap it while it is measured; the next step says so."""
    stranger = tmp_path / "stranger"
    for name in ("runs", "logs"):
        (stranger / name).mkdir(parents=True)
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.hold_room()
        before = folder.real_path
        swap(path, stranger)
        for step in (partial(folder.add, run(SPECS[0])), folder.hold_room, folder.check_in_place):
            with pytest.raises(HostError, match="is no longer the folder that sizer began to write to"):
                step()
        folder.free_room()
        assert folder.real_path == before
    theirs = stranger if stranger.exists() else path
    assert [path for path in theirs.rglob("*") if path.is_file()] == []


HOST_FACTS = {"cpu_model": "EPYC", "cpus": 2, "memory_bytes": 2**34}
TWO_SIZES = Study("s", (WorkloadPlan(Workload("train", "image_training"), (32,), (1.0, 2.0)),))


def make(path: Path, study: Study = TWO_SIZES) -> StudyFolder:
    with StudyFolder.create(path, study, HOST_FACTS) as folder:
        return folder


def test_imported_measurements_are_not_added_to(tmp_path: Path) -> None:
    """What was measured elsewhere does not mix with runs of this host."""
    imported = Study("s", (WorkloadPlan(Workload("train", "imported"), (32,), (1.0, 2.0)),))
    make(tmp_path / "s", imported)
    with pytest.raises(InputError, match="contains imported measurements; choose another folder with --out"):
        make(tmp_path / "s")


def test_other_embedded_images_are_another_study() -> None:
    """Runs over 400 images and over 800 are not alike in what the page cache holds."""
    refuse_other_study("s", TWO_SIZES, TWO_SIZES)
    with pytest.raises(InputError, match="was measured with `embedded_images: 400` and the study says 800"):
        refuse_other_study("s", replace(TWO_SIZES, embedded_images=400), replace(TWO_SIZES, embedded_images=800))


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
    with pytest.raises(HostError, match=rf"cannot be {verb} \(Input/output error\); .*choose another folder"):
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
    with StudyFolder.create(tmp_path / "s", TWO_SIZES, HOST_FACTS) as folder:
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
    kept = unsaved.keep_unsaved(make_run(100.0), tmp_path / "s", HOST_FACTS, tmp_path / "cache")
    (kept.parent / f".{kept.name}{ASIDE_SUFFIX}").write_text("{")
    assert unsaved.take_back(tmp_path / "s", HOST_FACTS, tmp_path / "cache", lambda _run: True) == 1
    assert not kept.parent.exists()


def test_a_mark_holds_for_a_minute(tmp_path: Path) -> None:
    """One that nobody set again is none, and neither is one of a clock that was wrong."""
    assert not is_watched(tmp_path)
    mark_watched(tmp_path)
    assert is_watched(tmp_path)
    for age in (61, -5):
        os.utime(tmp_path / WATCHED, (time.time() - age,) * 2)
        assert not is_watched(tmp_path)
    mark_watched(tmp_path)
    assert is_watched(tmp_path)
    unmark_watched(tmp_path)
    assert os.listdir(tmp_path) == []
    unmark_watched(tmp_path)


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, store_knee: object) -> None:
    """Nor does any command read a folder with one."""
    (tmp_path / "other").write_text("")
    os.utime(tmp_path / "other", (0, 0))
    study = store_knee(tmp_path / "s")  # type: ignore[operator]
    (study / WATCHED).symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        mark_watched(study)
    assert (tmp_path / "other").stat().st_mtime == 0
    with pytest.raises(InputError, match=r"\.watched is a link"):
        StudyFolder.open(study)


def test_its_runs_count_as_they_were_measured(probed: Path) -> None:
    """Whatever was taken off them; in the model, in the table and on the page."""
    stored = [json.loads(path.read_text()) for path in (probed / "runs").iterdir()]
    assert all(run["correction"]["throughput"] != run["throughput"] for run in stored)
    measured: dict[float, list[float]] = defaultdict(list)
    for run in stored:
        measured[run["configuration"]["vcpus"]].append(run["throughput"]["value"])
    folder = StudyFolder.open(probed)
    assert folder.problems() == ()
    (model,) = conclude(folder).model.workloads
    fitted = {rate.configuration.vcpus: rate.throughput.value for rate in model.measured.rates}
    assert fitted == {vcpus: median(rates) for vcpus, rates in measured.items()}
    rows = list(csv.DictReader(io.StringIO((probed / "measurements.csv").read_text())))
    assert sorted(float(row["throughput"]) for row in rows) == sorted(chain.from_iterable(measured.values()))
    assert "probe" not in (probed / "report.html").read_text().replace(probed.name, "")
