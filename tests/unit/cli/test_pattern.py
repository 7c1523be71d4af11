"""sizer pattern: what would be read from a log, before anything is measured by it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sizer.cli import main

LOG = """\
vocab size (33278)
| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 154.72 | loss  6.04 | ppl   420.00
| epoch   1 |   400/ 2983 batches | lr 20.00 | ms/batch 151.10 | loss  6.01 | ppl   410.00
| end of epoch   1 | time: 45.16s | valid loss  5.36 | valid ppl   212.05
| epoch   2 |   200/ 2983 batches | lr 20.00 | ms/batch 152.30 | loss  5.97 | ppl   391.51
"""


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return str(path)


def test_the_known_format_of_a_log_is_named(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With each line of the training, what it tells, and what all of them count."""
    assert main(["pattern", log]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "format: pytorch_word_language_model",
        "line 2: epoch 1, batch 200 of 2,983, 155 ms a batch",
        "line 3: epoch 1, batch 400 of 2,983, 151 ms a batch",
        "line 5: epoch 2, batch 200 of 2,983, 152 ms a batch",
        "3 of 5 lines are of the training, 400 batches counted, 2 epochs, 1 of evaluations passed over",
        "the log reports 151 ms to 155 ms a batch (median 152 ms); in a run, its lines must come as fast as that",
    ]


def test_ones_own_expression_shows_each_number_with_its_meaning(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Seconds that are milliseconds can be seen at once."""
    assert main(["pattern", r"ms/batch (?P<seconds>\S+)", log]) == 0
    out = capsys.readouterr().out
    assert out.startswith("format: your own expression\nline 2: 2 min 35 s a batch\n")
    assert "none has a counter, so the rate that is told counts" in out


def test_as_json_each_line_is_there(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads what a person would."""
    assert main(["pattern", "pytorch_word_language_model", log, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["format"], answer["lines"], answer["evaluations"]) == ("pytorch_word_language_model", 5, 1)
    assert (answer["batches"], answer["samples"], answer["epochs"]) == (400, None, 2)
    assert [(reading["line"], reading["step"], reading["grown"]) for reading in answer["readings"]] == [
        (2, 200, 0),
        (3, 400, 200),
        (5, 200, 200),
    ]
    assert answer["readings"][0]["seconds_per_batch"] == pytest.approx(0.15472)


def test_a_long_log_is_shown_in_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first ten lines, and how many more there are; a bar over carriage returns has a line for each state."""
    path = tmp_path / "bar.log"
    path.write_text("".join(f"\r{n}%|██   | {n}/100 [00:{n:02}<01:00,  1.00it/s]" for n in range(1, 60)))
    assert main(["pattern", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("format: tqdm\n")
    assert "\nand 49 more lines\n" in out
    assert "59 of 60 lines are of the training, 58 batches counted" in out


def test_samples_and_rates_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a counter of samples, and of a rate."""
    path = tmp_path / "own.log"
    path.write_text("seen 100 at 50.0/s in 2.0 s\nseen 200 at 52.0/s in 4.0 s\n")
    assert main(["pattern", r"seen (?P<samples>\d+) at (?P<rate>[\d.]+)/s in (?P<elapsed>[\d.]+)", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "line 1: sample 100, 50 samples/s, 2 s since its epoch began",
        "line 2: sample 200, 52 samples/s, 4 s since its epoch began",
        "2 of 2 lines are of the training, 100 samples counted",
        "the log reports 50 to 52 samples/s (median 51); in a run, its lines must come as fast as that",
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{log}"], "is of a known format (keras, nanogpt, "),
        (
            ["caffe", "{log}"],
            "is one of the training in the format caffe. To see which format it has",
        ),
        (["x=(?P<rate>.)", "{log}"], "None of the 2 lines of"),
        (["(", "{log}"], "`(` is not a regular expression"),
        (["x", "{log}"], "no group named rate, seconds, milliseconds, batches, step, samples or done"),
        (["{log}.gone"], "there is no such file; give the log of a program"),
    ],
)
def test_what_reads_nothing_is_said_in_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what to type next."""
    path = tmp_path / "some.log"
    path.write_text("hello\nworld\n")
    assert main(["pattern", *(word.format(log=path) for word in words)]) == 2
    assert sentence in capsys.readouterr().err


def test_of_a_very_long_log_the_beginning_is_read(
    log: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that is said."""
    monkeypatch.setattr("sizer.cli.commands.pattern.LARGEST_LOG", 300)
    assert main(["pattern", log]) == 0
    assert capsys.readouterr().out.endswith("only the first 300 B were read\n")


def test_what_is_no_number_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A decimal comma beside numbers that are read."""
    path = tmp_path / "a.log"
    path.write_text("1,234.5 img\n1,5 img\n")
    assert main(["pattern", r"(?P<rate>\S+) img", str(path)]) == 0
    out = capsys.readouterr().out
    assert "line 1: 1,230 samples/s\n1 of 2 lines" in out
    assert "the pattern also matches what is no number, and passes it over: 1,5 img\n" in out


def test_a_scaled_bar_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """tqdm with `unit_scale`."""
    path = tmp_path / "a.log"
    path.write_text("".join(f"  5%| | {n}.00k/100k [00:0{n}<00:20, 4.80kimg/s]\n" for n in range(5, 8)))
    assert main(["pattern", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["format"], answer["samples"]) == ("tqdm", 2000)
    assert answer["readings"][0]["samples_per_second"] == pytest.approx(4800)


def test_a_speedometer_without_a_metric_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """MXNet 1.9.1, callback.py: `Iter` in place of `Epoch`."""
    path = tmp_path / "a.log"
    path.write_text("".join(f"INFO:root:Iter[0] Batch [{n}]\tSpeed: 219.10 samples/sec\n" for n in (20, 40, 60)))
    assert main(["pattern", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["format"], answer["batches"]) == ("mxnet_speedometer", 40)


def test_a_log_may_come_through_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `<(...)` of a shell gives one; a folder is told to be one."""
    read_end, write_end = os.pipe()
    os.write(write_end, b"step 1\nstep 2\n")
    os.close(write_end)
    assert main(["pattern", r"step (?P<step>\d+)", f"/dev/fd/{read_end}"]) == 0
    os.close(read_end)
    assert "1 batch counted" in capsys.readouterr().out
    assert main(["pattern", str(tmp_path)]) == 2
    assert f"{tmp_path} is a folder; give the log of a program." in capsys.readouterr().err


def test_an_expression_that_backtracks_without_end_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the time that a run gives it, too."""
    path = tmp_path / "train.log"
    path.write_text("a" * 4000 + "!\n")
    assert main(["pattern", r"(?P<rate>(a+)+)$", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"sizer: `(?P<rate>(a+)+)$` takes more than 1 s of CPU time for each MiB of {path}; avoid repetition inside of "
        "repetition, such as `(a+)+`.\n"
    )
