"""How a user's own program is started: its variables, its folder, what is filled in, and what is run before it."""

from __future__ import annotations

import json
import os
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sizer.files.codec import to_json
from sizer.limits.users import run_user
from sizer.records.frameworks import Variable
from sizer.records.run import CauseKind, Run, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec
from sizer.runner.launcher import RunContext
from sizer.runner.preparatory import set_up
from sizer.runner.watching import Hooks
from sizer.words.failures import failure_in_words
from sizer.words.warnings import warning_line
from tests.integration.runner.conftest import python

pytestmark = [pytest.mark.root, pytest.mark.slow]

SECRET = "hf_aBcDeFgH1234"
RATES = "import time, sys, os\nwhile True: time.sleep(0.05); print('rate 5000.0')"


@pytest.fixture
def context(context: RunContext, tmp_path: Path) -> RunContext:
    paths = replace(context.paths, data=tmp_path / "data.txt")
    return replace(context, paths=paths, environment={**os.environ, "MY_HOME": "/somewhere/mine"})


def test_words_and_variables_are_filled_in_for_each_run(measure: Callable[..., Run], context: RunContext) -> None:
    """With the run's own limits, and with the host's where it has none; what is no placeholder stays."""
    words = (
        "{vcpus} {threads} {memory_mib} {batch_size} {gpu_count} {repeat}",
        "{data}",
        "{scratch}",
        "{other} {{data}}",
    )
    measure(
        *python("import os, sys\nprint(sys.argv[1:], os.environ['HERE'], os.environ['OMP_NUM_THREADS'], os.getcwd())"),
        *words,
        vcpus=0.5,
        env=(Variable("HERE", "{threads}x{batch_size}"), Variable("OMP_NUM_THREADS", "7")),
    )
    scratch = str(context.paths.scratch)
    given = ["0.5 1 16384 8 0 1", str(context.paths.data), scratch, "{other} {data}"]
    assert context.log_path.read_text() == f"{given} 1x8 7 {scratch}\n"


def test_no_secret_is_stored_or_logged(measure: Callable[..., Run], context: RunContext) -> None:
    """Not even where the program itself prints it, in its last words, its warnings or on the event pipe."""
    body = """
    import os, sys
    print("key", os.environ["API_KEY"], "home", os.environ["MY_HOME"])
    open("made by " + os.environ["API_KEY"], "w")
    os.write(int(os.environ["SIZER_EVENTS_FD"]), (os.environ["API_KEY"] + "\\n").encode())
    sys.exit("no: " + os.environ["API_KEY"])
    """
    folder = context.paths.scratch
    run = measure(*python(body), env=(Variable("API_KEY", SECRET),), pass_env=("MY_*",), cwd=str(folder))
    stored, logged = json.dumps(to_json(run)), context.log_path.read_text()
    assert run.outcome is Outcome.CRASHED
    assert "key [API_KEY] home [MY_HOME]" in logged
    assert "made by [API_KEY]" in stored
    for text in (stored, logged, failure_in_words(run), repr(run)):
        assert SECRET not in text
        assert "/somewhere/mine" not in text


def test_files_that_a_run_leaves_in_its_folder_are_named(measure: Callable[..., Run], tmp_path: Path) -> None:
    """The next run may go on from them; what is there already and stays as it is, is not."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    (folder / "log.txt").write_text("first")
    body = """
    import os
    for name in ("checkpoint.pt", "log.txt", "other.bin", "other.txt", "z.txt"): open(name, "a").write("more")
    """
    run = measure(*python(textwrap.dedent(body) + RATES), cwd=str(folder))
    assert run.outcome is Outcome.COMPLETED, run.error
    warnings = [warning for warning in run.warnings if warning.kind is WarningKind.FILES_CHANGED]
    assert [warning_line(warning, "") for warning in warnings] == [
        "files changed: it made or changed checkpoint.pt, log.txt, other.bin and 2 more in its working folder, "
        "where the next run finds them"
    ]
    again = measure(*python(RATES), cwd=str(folder))
    assert not [warning for warning in again.warnings if warning.kind is WarningKind.FILES_CHANGED]


def test_a_run_that_was_not_made_ready_is_refused(measure: Callable[..., Run]) -> None:
    """With the last words of what failed; it is made again when the study goes on. The second Ctrl-C ends what is run
    before, and all that it started."""
    run = measure(*python(RATES), before=("sh", "-c", "echo no room here >&2; exit 3"))
    assert (run.outcome, failure_in_words(run)) == (Outcome.REFUSED, "its `before` ended with exit status 3")
    assert "no room here" in run.error.last_lines
    run = measure(*python(RATES), before=("/nowhere/program",))
    sentence = "its `before` could not be started (/nowhere/program: No such file or directory)"
    assert (run.outcome, failure_in_words(run)) == (Outcome.REFUSED, sentence)
    nap = f"301.{os.getpid()}"
    began = time.monotonic()
    stop = Hooks(stop_now=lambda: time.monotonic() > began + 0.5)
    run = measure(*python(RATES), before=("sh", "-c", f"sleep {nap} & sleep {nap}"), hooks=stop)
    assert run.outcome is Outcome.INTERRUPTED
    assert time.monotonic() - began < 100
    assert not [process for process in psutil.process_iter(["cmdline"]) if nap in (process.info["cmdline"] or ())]


def test_a_setup_has_the_variables_that_belong_to_no_run(make_spec: Callable[..., RunSpec], tmp_path: Path) -> None:
    """And its failure has its last words, without secrets."""
    workload = replace(
        make_spec("true").workload,
        cwd=str(tmp_path),
        env=(Variable("HERE", "here"), Variable("SIZE", "{batch_size}"), Variable("API_KEY", SECRET)),
        setup=("sh", "-c", 'echo "$HERE ${SIZE-none} $0" > made; echo $API_KEY; exit ${STATUS-0}'),
    )
    assert set_up(workload, run_user(), os.environ, lambda: False) is None
    assert (tmp_path / "made").read_text() == "here none sh\n"
    failed = set_up(
        replace(workload, env=(*workload.env, Variable("STATUS", "4"))), run_user(), os.environ, lambda: False
    )
    assert failed.cause.kind is CauseKind.SETUP_FAILED
    assert failed.cause.figures == {"status": 4}
    assert failed.last_lines == "[API_KEY]"
