"""What a person may name in a file's place on the command line: a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_command_waits_for_ever_for_a_pipe(tmp_path: Path, first_version: Path) -> None:
    """Each that reads a file which a person names: one sentence, exit code 2, a few seconds."""
    os.mkfifo(tmp_path / "fifo")
    asked = [
        ["run", "fifo", "--out", "out", "--dry-run"],
        ["predict", str(first_version), "--at", "fifo"],
        ["catalog", "validate", "fifo"],
        ["recommend", str(first_version), "--catalog", "fifo"],
    ]
    started = [
        subprocess.Popen([sys.executable, "-m", "sizer", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for words in asked
    ]
    for process in started:
        _, said = process.communicate(timeout=300)
        assert said.splitlines()[-1].startswith("sizer: fifo is a pipe that nobody writes to")
        assert process.returncode == 2


def test_a_pipe_in_a_files_place_is_read(tmp_path: Path) -> None:
    """`sizer catalog validate <(command)`: a descriptor that the shell hands down."""
    reading, writing = os.pipe()
    os.write(writing, b"name,vcpus,")
    os.write(writing, b"price\nmine.large,4,0.25\n")
    os.close(writing)
    argv = [sys.executable, "-m", "sizer", "catalog", "validate", f"/dev/fd/{reading}"]
    done = subprocess.run(argv, cwd=tmp_path, pass_fds=[reading], capture_output=True, text=True, timeout=300)
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert f"/dev/fd/{reading}: 1 entry, valid" in done.stdout
