"""What a program prints, as it comes to sizer: through terminals, whatever the program thinks of its output."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.runner.launcher import RunContext
from sizer.runner.run_log import HEAD_BYTES, TAIL_BYTES
from sizer.words.failures import failure_in_words
from tests.integration.runner.conftest import python
from tests.shared import TELLS

pytestmark = [pytest.mark.root, pytest.mark.slow]


def test_a_buffered_program_is_seen_line_by_line(measure: Callable[..., Run]) -> None:
    """It flushes nothing itself: into a pipe it would say nothing for 400 lines."""
    run = measure("awk", 'BEGIN { while (1) { system("sleep 0.1"); print "rate 5000.0" } }')
    assert run.outcome is Outcome.COMPLETED, run.error
    assert run.throughput.value == pytest.approx(5000, rel=0.03)
    # Those of a moment in which sizer, the program or the host was held up come together.
    assert len(run.steps) < 50 * len({step.time for step in run.steps})


def test_stdout_and_stderr_are_terminals_of_their_own(measure: Callable[..., Run], context: RunContext) -> None:
    """They are as wide as nothing is cut for, change nothing, control nobody, and nobody types into them."""
    measure(
        *python(
            """
            import os, sys
            print(sys.stdout.isatty(), sys.stderr.isatty(), sys.stdin.isatty(), os.environ["TERM"])
            print(os.ttyname(1) != os.ttyname(2), os.get_terminal_size(1).columns, os.readlink("/proc/self/fd/0"))
            try:
                os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
            except OSError as error:
                print(error.strerror)
            """
        )
    )
    assert context.log_path.read_bytes() == (b"True True False dumb\nTrue 200 /dev/null\nNo such device or address\n")


def test_lines_of_the_two_are_never_mixed(measure: Callable[..., Run], context: RunContext) -> None:
    """A progress bar on stderr is drawn while a line of stdout is still being written."""
    run = measure(
        *python(
            """
            import os, time
            for number in range(60):
                os.write(1, b"rate ")
                time.sleep(0.02)
                os.write(2, b"\\r %d%%|###   | 3it/s" % number)
                time.sleep(0.02)
                os.write(1, b"25.0\\n")
            """
        ),
        seconds=60.0,
    )
    assert run.outcome is Outcome.COMPLETED, run.error
    assert len(run.steps) == 60
    assert context.log_path.read_text().count("rate 25.0\n") == 60


def test_what_has_no_end_of_line_is_kept(measure: Callable[..., Run], context: RunContext) -> None:
    """The last words of a program that dies in the middle of a line, and a line of a megabyte."""
    run = measure(*python("import sys\nprint('x' * 1_000_000 + 'end')\nprint('half a line', end='')\nsys.exit(3)"))
    text = context.log_path.read_text()
    assert len(text) == 1_000_000 + len("end\nhalf a line")
    assert text.endswith("xend\nhalf a line")
    assert run.error.last_lines.endswith("half a line")


def test_a_flood_is_drained_and_its_first_and_last_mebibyte_are_kept(
    measure: Callable[..., Run], context: RunContext
) -> None:
    """The steps among it are counted, and what reading it costs is sizer's own CPU time."""
    run = measure(
        *python(
            f"""{TELLS}
start()
block = (b"y" * 99 + b"\\n") * 10_000
for number in range(30):
    os.write(1, block)
    step(0)
"""
        ),
        pattern=None,
        seconds=60.0,
    )
    assert run.outcome is Outcome.COMPLETED, run.error
    assert len(run.steps) == 30
    assert run.samples[-1].sizer_core_seconds > 0.005
    written = context.log_path.read_text()
    assert len(written) == HEAD_BYTES + TAIL_BYTES + len(
        f"\n[sizer: {30 * 10**6 - HEAD_BYTES - TAIL_BYTES} bytes left out]\n"
    )


def test_a_program_that_asks_for_input_is_told_so(measure: Callable[..., Run]) -> None:
    """Its stdin is empty, and it has no terminal to ask at."""
    for command in (
        python("input('Overwrite the checkpoint? ')"),
        ("bash", "-c", "echo 'Password for hub: ' >/dev/tty || exit 1"),
    ):
        run = measure(*command)
        assert run.outcome is Outcome.CRASHED
        assert "it asked for input" in failure_in_words(run)


def test_a_program_that_others_outlive_is_told_so(measure: Callable[..., Run], context: RunContext) -> None:
    """The steps are those of a process that it does not wait for."""
    flag = context.paths.scratch / "told"
    steps = f"(echo rate 25.0; echo rate 25.0; : >{flag}; sleep 300)"
    run = measure("sh", "-c", f"{steps} & until [ -e {flag} ]; do sleep 0.05; done", seconds=200.0)
    assert run.outcome is Outcome.CRASHED
    assert "its own process ended while others that it had started still held its output" in failure_in_words(run)
