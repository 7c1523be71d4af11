"""Interpreters and the frameworks in them, and what is told of the machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from sizer.host import machine
from sizer.host import machine as host
from sizer.host.asking import first_line
from sizer.host.findings import Check, Finding, FindingKind
from sizer.host.frameworks import framework_checks, transformers_check
from sizer.host.interpreters import Interpreter, examined, interpreter, look_into, what_it_lacks
from sizer.host.machine import checks, facts, with_frameworks
from sizer.limits.detection import detect
from sizer.limits.interface import Capability, Control
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.messages import HostError, InputError
from sizer.records.study import FrameworkPython
from sizer.words.terminal import check_lines, finding_in_words
from tests import ROOT

# Where the programs of a framework run, and each reason why an interpreter is not one for them.


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have set some."""
    for framework in ("MXNET", "OPENCV", "PYTORCH"):
        monkeypatch.delenv(f"SIZER_{framework}_PYTHON", raising=False)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another interpreter: a link is enough, it is another path."""
    path = tmp_path / "python"
    path.symlink_to(sys.executable)
    return path


def script(path: Path, *lines: str) -> Path:
    """A program that is no interpreter."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def test_a_framework_may_have_an_interpreter_of_its_own(monkeypatch: pytest.MonkeyPatch, other: Path) -> None:
    """Preprocessing finds OpenCV where MXNet is, unless it has one of its own, too."""
    monkeypatch.setenv("SIZER_MXNET_PYTHON", str(other))
    assert interpreter("mxnet") == interpreter("opencv") == other
    assert interpreter("pytorch") == Path(sys.executable)
    monkeypatch.setenv("SIZER_OPENCV_PYTHON", sys.executable)
    assert interpreter("opencv") == Path(sys.executable)


def test_what_the_study_says_wins(monkeypatch: pytest.MonkeyPatch, other: Path) -> None:
    """Over the variable, even where that one is wrong."""
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", "/nowhere/python")
    assert interpreter("pytorch", FrameworkPython("pytorch", str(other))) == other
    monkeypatch.setenv("PATH", str(other.parent))
    assert interpreter("pytorch", FrameworkPython("pytorch", "python")) == other


def test_a_bare_name_is_looked_for_in_the_path_alone(
    monkeypatch: pytest.MonkeyPatch, other: Path, tmp_path: Path
) -> None:
    """A file of that name in a folder of somebody else's is not started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIZER_MXNET_PYTHON", "python")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(HostError, match="which is not a program"):
        interpreter("mxnet")
    (tmp_path / "bin").mkdir()
    other.rename(tmp_path / "bin/python")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert interpreter("mxnet") == tmp_path / "bin/python"


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        ("{folder}/gone", "{folder}/gone is not there; give the path of a Python interpreter"),
        ("{folder}", "{folder} is a folder; give the program in it, such as {folder}/bin/python"),
        ("{folder}/plain", "{folder}/plain is not a program that can be started; give the path"),
        ("no-such-python", "no-such-python is not in PATH; give the path of a Python interpreter"),
    ],
)
def test_what_a_study_says_wrongly_has_its_line(tmp_path: Path, python: str, sentence: str) -> None:
    """File, line, field, and what to write."""
    (tmp_path / "plain").touch()
    chosen = FrameworkPython("pytorch", python.format(folder=tmp_path), "their.yaml", 7)
    where = "their.yaml line 7: `python` of `pytorch` in `frameworks`: "
    with pytest.raises(InputError, match=re.escape(where + sentence.format(folder=tmp_path))):
        interpreter("pytorch", chosen)


def test_what_is_no_python_says_so(tmp_path: Path) -> None:
    """Missing, failing, or printing something else."""
    programs = [
        tmp_path / "nowhere",
        script(tmp_path / "fails", "echo no such luck >&2", "exit 1"),
        script(tmp_path / "talks", "echo nonsense"),
        script(tmp_path / "counts", "echo 7"),
    ]
    for program, reason in zip(
        programs, ["No such file", "no such luck", "something else", "something else"], strict=True
    ):
        lack = what_it_lacks("pytorch", examined("pytorch", program))
        assert str(lack.message).startswith(f"{program} does not answer as a Python interpreter does (")
        assert reason in str(lack.message)
        assert str(lack.message).endswith("; name another interpreter in `frameworks` of the study file")


def answering(version: str = "3.11.7", torch: str = "2.13.0+cpu", *, without: str = "") -> Interpreter:
    """An interpreter as it answers."""
    modules = frozenset(FRAMEWORKS["pytorch"].modules) - {without}
    return Interpreter(Path("/t/python"), version, {"torch": torch} if torch else {}, modules)


def test_what_is_too_old_or_missing_says_what_to_type() -> None:
    """One sentence each; a framework without a version, as one built from its source, is taken as it is."""
    install = "type: /t/python -m pip install torch==2.13.0 numpy opencv-python-headless simplejpeg lmdb"
    cases = [
        (
            answering("3.9.18"),
            "has Python 3.9.18, and sizer's programs need 3.10 or newer; name another interpreter",
        ),
        (answering(without="torch"), f"has no torch; {install}"),
        (answering(without="cv2"), f"has no opencv-python-headless; {install}"),
        (answering(torch="1.13.1"), f"has torch 1.13.1, and sizer's programs need 2.0 or newer; {install}"),
    ]
    for answer, sentence in cases:
        lack = what_it_lacks("pytorch", answer)
        assert str(lack and lack.message).startswith(f"/t/python {sentence}")
    for answer in (answering(), answering("3.10.0"), answering(torch=""), answering(torch="2.0.0rc1")):
        assert what_it_lacks("pytorch", answer) is None


def test_networks_of_transformers_need_it() -> None:
    """No others do; and only what is missing is installed, for another version of the framework may be meant."""
    assert what_it_lacks("pytorch", answering(), ["resnet50"]) is None
    lack = what_it_lacks("pytorch", answering(), ["resnet50", "vit_b16", "bert_base"])
    assert str(lack and lack.message) == (
        "/t/python has no transformers, which makes bert_base and vit_b16; type: /t/python -m pip install "
        "'transformers>=5,<6'"
    )
    has = replace(answering(), modules=answering().modules | {"transformers"})
    assert what_it_lacks("pytorch", has, ["vit_b16"]) is None
    assert '"transformers>=5,<6"' in (ROOT / "setup.py").read_text()


def test_what_is_installed_is_what_sizer_itself_is_installed_with() -> None:
    """A version that is pinned in two places is the same in both."""
    pinned = {package for framework in FRAMEWORKS.values() for package in framework.install if "==" in package}
    assert pinned == {"mxnet==1.9.1", "torch==2.13.0"}
    assert all(package in (ROOT / "setup.py").read_text() for package in pinned)


def test_an_interpreter_is_asked_as_a_run_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that only PYTHONPATH brings is none that a run has, and nothing is imported."""
    (tmp_path / "torch.py").write_text("raise SystemExit(9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "json" in look_into(Path(sys.executable), (), ["json"]).modules
    bare = script(tmp_path / "bare", f'exec "{sys._base_executable}" -S "$@"')  # type: ignore[attr-defined]
    assert look_into(bare, ["torch"], ["torch"]).modules == frozenset()
    assert os.environ["PYTHONPATH"] == str(tmp_path)


# What `sizer doctor` says of the frameworks that programs run on.


def checked(monkeypatch: pytest.MonkeyPatch, program: str) -> Check:
    """The check of a framework that this program would import."""
    monkeypatch.setitem(FRAMEWORKS, "opencv", replace(FRAMEWORKS["opencv"], gpus_seen=program))
    (check,) = framework_checks(["opencv"])
    return check


@pytest.mark.parametrize(
    ("gpus", "sentence"),
    [
        ("[]", "4.11 in {python}; sees no GPU"),
        ("['NVIDIA L4']", "4.11 in {python}; sees NVIDIA L4"),
        ("['A', 'B', 'C']", "4.11 in {python}; sees A, B and C"),
    ],
)
def test_version_place_and_gpus_are_told(monkeypatch: pytest.MonkeyPatch, gpus: str, sentence: str) -> None:
    """Whatever the framework prints before is passed over."""
    check = checked(monkeypatch, f"import json; print('hello'); print(json.dumps(['4.11', {gpus}]))")
    assert (check.ok, check.fix) == (True, None)
    assert finding_in_words(check.finding) == sentence.format(python=sys.executable)


@pytest.mark.parametrize(
    ("program", "sentence", "fix"),
    [
        ("raise ImportError('numpy is too new')", "numpy is too new", "-m pip install opencv-python-headless"),
        ("raise OSError('libgomp.so.1: cannot open shared object file')", "libgomp.so.1", "apt-get install libgomp1"),
        ("print('nothing')", "", "-m pip install"),
    ],
)
def test_why_it_does_not_import_decides_the_fix(
    monkeypatch: pytest.MonkeyPatch, program: str, sentence: str, fix: str
) -> None:
    """A package and a system library need different commands."""
    check = checked(monkeypatch, program)
    assert (check.ok, check.finding.kind) == (False, FindingKind.NO_IMPORT)
    assert finding_in_words(check.finding).startswith(f"cannot be imported in {sys.executable}: ")
    assert sentence in finding_in_words(check.finding)
    assert fix in (check.fix or "")


def test_where_it_is_missing_pytorch_is_installed_with_it(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One command for an interpreter that has neither; and what a variable says that is no program is told."""
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(bare))
    assert check_lines(transformers_check()) == [
        f"NO  transformers: not installed in {bare}",
        f"      to fix it, type: {bare} -m pip install torch==2.13.0 numpy opencv-python-headless simplejpeg lmdb "
        "'transformers>=5,<6'",
    ]
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(bare.parent / "gone"))
    assert transformers_check().fix == "unset SIZER_PYTORCH_PYTHON"


def test_one_that_is_not_installed_is_not_imported(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line says where it was looked for, and the next what installs it there."""
    monkeypatch.setenv("SIZER_OPENCV_PYTHON", str(bare))
    assert check_lines(checked(monkeypatch, "raise SystemExit(7)")) == [
        f"NO  opencv: not installed in {bare}",
        f"      to fix it, type: {bare} -m pip install opencv-python-headless simplejpeg numpy lmdb",
    ]


@pytest.mark.parametrize("line", ["exit 1", "echo nonsense"])
def test_a_variable_that_names_no_python_is_to_be_unset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Or one that is not there."""
    program = tmp_path / "python"
    monkeypatch.setenv("SIZER_OPENCV_PYTHON", str(program))
    check = checked(monkeypatch, "")
    assert (check.ok, check.fix) == (False, "unset SIZER_OPENCV_PYTHON")
    assert "is not a program" in finding_in_words(check.finding)
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)
    check = checked(monkeypatch, "")
    assert (check.ok, check.fix) == (False, "unset SIZER_OPENCV_PYTHON")
    assert "does not answer as a Python interpreter does" in finding_in_words(check.finding)


# Facts about this machine are plain, and each check that fails names its fix.


def test_facts_are_those_of_this_machine_and_fit_json() -> None:
    """host.json holds what the kernel says."""
    host_facts = facts()
    assert host_facts.cpus == len(detect().allowed) <= (os.cpu_count() or 0)
    assert host_facts.kernel == os.uname().release
    assert f"MemTotal: {host_facts.memory_bytes // 1024} kB" in " ".join(Path("/proc/meminfo").read_text().split())
    assert host_facts.packages["psutil"]
    assert json.loads(json.dumps(asdict(host_facts)))["limits"] == detect().name


def test_every_control_and_program_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list that `sizer doctor` shows."""
    monkeypatch.setattr(host, "framework_checks", lambda: (Check("mxnet", True, Finding(FindingKind.QUIET)),))
    names = [check.name for check in checks()]
    assert names == [*(control.value for control in Control), *names[4:]]
    assert names[4:] == ["cpus", "swap", "pressure", "fio", "mkfs.ext4", "loop devices", "mxnet", "transformers"]


def test_a_program_that_is_not_there_is_installed_by_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    """fio is a Debian package; the package of that name on PyPI is something else."""
    monkeypatch.setattr(host, "first_line", lambda *_: None)
    assert host._program_check("fio", "fio", "--version") == Check(
        "fio", False, Finding(FindingKind.NOT_INSTALLED), "sudo apt-get install fio"
    )


def test_each_framework_of_a_study_has_its_own_versions(bare: Path) -> None:
    """One is where sizer is, the other in a Python without packages; what both have is said of the first."""
    host_facts = with_frameworks(facts(), {"opencv": Path(sys.executable), "pytorch": bare})
    assert [framework.path for framework in host_facts.frameworks] == [sys.executable, str(bare)]
    assert host_facts.frameworks[0].packages["numpy"] == host_facts.packages["numpy"]
    assert host_facts.frameworks[1].packages == {}
    assert host_facts.frameworks[1].python == host_facts.python == sys.version.split()[0]
    assert with_frameworks(host_facts, {}) == host_facts


@pytest.mark.parametrize(("capped", "ok"), [(True, True), (False, False)])
def test_swap_matters_where_runs_could_use_it(capped: bool, ok: bool) -> None:
    """A cap on memory keeps a run from swap; without one, swap hides the memory floor."""
    check = host._swap_check(1 << 30, (Capability(Control.MEMORY, capped, ""),))
    assert (check.ok, check.fix) == (ok, None if ok else "sudo swapoff -a")
    assert host._swap_check(0, ()).ok


def test_loop_devices_need_their_control_file(tmp_path: Path) -> None:
    """A kernel module that is not loaded."""
    assert host._loop_check(tmp_path / "loop-control").fix == "sudo modprobe loop"
    (tmp_path / "loop-control").touch()
    assert host._loop_check(tmp_path / "loop-control").ok


def test_facts_import_no_framework() -> None:
    """Versions come from the packages' metadata: importing MXNet takes seconds and memory."""
    code = "import sys; from sizer.host.machine import facts; facts(); sys.exit('mxnet' in sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    assert shown.returncode == 0


def test_programs_that_are_not_there_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container without lscpu or an os-release is still described."""
    assert first_line("no-such-program-of-anybody", "--version") is None
    monkeypatch.setattr("sizer.host.machine.shutil.which", lambda _name: None)
    assert machine._lscpu() == {}

    def none() -> None:
        raise FileNotFoundError("os-release")

    monkeypatch.setattr("sizer.host.machine.platform.freedesktop_os_release", none)
    assert machine._distribution() == "Linux"
