"""A profile's file, its first run and its folder belong together."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sizer import api
from sizer.api.profiling import OFTEN_READ, SEAL, disks_by_name, profile_of, refuse_changed, sealed
from sizer.records.frameworks import Variable
from sizer.records.messages import InputError
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder

SECRET = "hf_aBcDeFgH1234"


@pytest.fixture(scope="module")
def host() -> api.MeasuringHost:
    return api.this_host()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job(*words: str, **given: object) -> api.OwnJob:
    return api.OwnJob((sys.executable, "train.py", *words), **given)  # type: ignore[arg-type]


def first_run(profile: api.Profile, **changes: object) -> Run:
    spec = profile.first_spec
    run = Run(spec, Outcome.COMPLETED, Configuration(2.0, GIB, "host", 1), "2026-11-21T10:00:00+00:00", 9.0)
    return replace(run, throughput=Estimate(10.0, 9.9, 10.1), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"data": "data"},
        {"data": "data", "disks": ("disk",)},
        {"disks": ("disk", "alibaba/cloud_ssd:100GiB")},
        {"env": (Variable("HF_TOKEN", SECRET), Variable("MODE", "1"))},
        {"batch_sizes": (8,)},
    ],
)
def test_the_first_run_is_one_of_the_file_that_follows_from_it(
    given: dict[str, object], here: Path, host: api.MeasuringHost
) -> None:
    """And the file, read again, asks for exactly the same runs."""
    (here / "data").mkdir()
    (here / "disk").mkdir()
    profile = profile_of(job(**given), None, host)
    plan = profile.plan(first_run(profile))
    text = profile.text(first_run(profile))
    (here / "train-profile.yaml").write_text(sealed(text))
    again = api.plan_study(api.read_study(here / "train-profile.yaml", None, host.size), "train-profile", host)
    assert profile.first_spec.id in {spec.id for spec in plan.specs}
    assert [spec.id for spec in again.specs] == [spec.id for spec in plan.specs]
    assert [search.base.id for search in again.following] == [search.base.id for search in plan.following]
    assert SECRET not in text
    assert len(profile.first_plan().specs) == 1
    assert profile.first_plan().following == ()


def test_several_batch_sizes_begin_with_the_first(here: Path, host: api.MeasuringHost) -> None:
    profile = profile_of(job("{batch_size}", batch_sizes=(8, 16)), here / "out", host)
    assert profile.first_spec.batch_size == 8
    assert profile.first_spec.id in {spec.id for spec in profile.plan(None).specs}
    with pytest.raises(InputError, match=r"^the command is not told which `batch_size` to use"):
        profile_of(job(batch_sizes=(8, 16)), here / "out", host).plan(None)


def test_a_value_that_is_not_stored_goes_to_the_program_all_the_same(host: api.MeasuringHost) -> None:
    profile = profile_of(job(env=(Variable("HF_TOKEN", SECRET),)), None, host)
    assert profile.first_spec.workload.env[0].value_in({}) == SECRET


def test_the_program_is_the_one_that_the_shell_finds(
    here: Path, host: api.MeasuringHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its whole path, since another shell may find another."""
    program = here / "bin" / "python"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert profile_of(api.OwnJob(("python", "x.py")), None, host).job.command == (str(program), "x.py")
    assert profile_of(api.OwnJob(("bin/python",)), None, host).job.command == (str(program),)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with_path = api.OwnJob(("python", "x.py"), env=(Variable("PATH", str(program.parent)),))
    assert profile_of(with_path, None, host).job.command[0] == str(program)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("no-such-program",), "The program no-such-program was not found"),
        (("./missing",), "The program ./missing was not found"),
        (("MODE=1", "python"), "`MODE=1` is not a program; set a variable with --env MODE=1"),
    ],
)
def test_a_program_that_is_not_there_is_said_before_anything(
    words: tuple[str, ...], sentence: str, host: api.MeasuringHost
) -> None:
    with pytest.raises(InputError, match=sentence):
        profile_of(api.OwnJob(words), None, host)


@pytest.mark.parametrize("folder", [".", "..", "/", "x/.."])
def test_a_folder_without_a_name_is_refused(folder: str, host: api.MeasuringHost) -> None:
    with pytest.raises(InputError, match="cannot be the folder of a profile"):
        profile_of(job(), folder, host)


def test_data_that_the_command_names_and_nobody_gives(host: api.MeasuringHost) -> None:
    with pytest.raises(InputError, match=r"^\{data\} is in the command, and nothing says which data that is"):
        profile_of(job("{data}"), None, host).check()


def test_a_file_that_a_person_changed_is_not_written_over(here: Path) -> None:
    path, text = here / "x.yaml", "name: x\n# comment\n"
    refuse_changed(path, here / "x")
    path.write_text(sealed(text))
    refuse_changed(path, here / "x")
    for changed in (sealed(text).replace("comment", "mine"), text, f"{sealed(text)}more: 1\n", SEAL, ""):
        path.write_text(changed)
        with pytest.raises(InputError, match="has been changed since `sizer profile` wrote it"):
            refuse_changed(path, here / "x")


def test_a_folder_of_another_command_or_with_other_options_is_refused(host: api.MeasuringHost) -> None:
    """In a sentence about what was typed."""
    profile = profile_of(job(), None, host)
    with StudyFolder.create(profile.folder, profile.first_plan().study, host.host) as folder:
        folder.add(first_run(profile))
    first = profile.first_run()
    assert first.id == profile.first_spec.id
    profile.check()
    with pytest.raises(InputError, match=r"is the profile of another command, `.*train.py`; choose another folder"):
        profile_of(job("--fast"), None, host).check()
    with pytest.raises(InputError, match="was measured with another --env; type the same"):
        profile_of(job(env=(Variable("A", "1"),)), None, host).check()
    with pytest.raises(InputError, match="was measured with another --pattern"):
        profile_of(job(pattern="tqdm"), None, host).check()


def test_disks_are_named_by_their_folder_or_tier(here: Path) -> None:
    for name in ("fast", "a/fast", "host", "é"):
        (here / name).mkdir(parents=True, exist_ok=True)
    tiers = ["alibaba/cloud_ssd", "alibaba/cloud_ssd:100GiB", "aws/gp3:6000iops:500mbps"]
    disks = disks_by_name(["fast", "a/fast", "host", "é", *tiers])
    assert disks == {
        "fast": str(here / "fast"),
        "fast-2": str(here / "a" / "fast"),
        "host-2": str(here / "host"),
        "disk": str(here / "é"),
        "cloud_ssd": ("alibaba/cloud_ssd", 500 * GIB, None, None),
        "cloud_ssd-2": ("alibaba/cloud_ssd", 100 * GIB, None, None),
        "gp3": ("aws/gp3", 500 * GIB, 6000, 500e6),
    }


@pytest.mark.parametrize(
    ("disk", "sentence"),
    [
        ("nowhere", "--disk nowhere: there is no such folder"),
        ("/no/where", "--disk /no/where: there is no such folder"),
        ("alibaba/cloud_sd", "The catalogue has no disk tier `alibaba/cloud_sd`; did you mean"),
        ("alibaba/cloud_ssd:1G", "1G"),
        ("aws/gp3:500GiB:100GiB", "`100GiB` is said twice"),
        ("aws/gp2:500GiB:6000iops", "aws/gp2 sells no `iops` beside its size"),
    ],
)
def test_a_disk_that_is_none_is_refused(disk: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        disks_by_name([disk])


def test_variables_that_training_programs_read() -> None:
    """And not those of other programs."""
    assert all(map(OFTEN_READ.match, ("HF_HOME", "TORCH_HOME", "NCCL_DEBUG", "XDG_CACHE_HOME", "TF_CPP_MIN_LOG_LEVEL")))
    assert not any(map(OFTEN_READ.match, ("TF_CLI_CONFIG_FILE", "SHELL", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR")))
