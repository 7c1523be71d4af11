from __future__ import annotations

import pytest

from sizer.analysis.log_rates import LogRates
from sizer.records.errors import InputError

LINES = {
    "mxnet_speedometer": "INFO:root:Epoch[0] Batch [20-40]\tSpeed: 200.00 samples/sec\taccuracy=0.1\n",
    "caffe": "I0101 10:00:00.0 12 solver.cpp:218] Iteration 40 (6.25 iter/s, 3.2s/20 iters), loss = 6.9\n",
    "torch": "Epoch: [0][20/5004]\tTime 0.160 (0.412)\tData 0.010\n",
    "tensorflow": "10\timages/sec: 200.0 +/- 0.0 (jitter = 0.1)\t6.9\n",
    "cntk": " Minibatch[ 1- 10]: time = 1.6s; samplesPerSecond = 200.0\n",
}


@pytest.mark.parametrize("pattern", LINES)
def test_each_known_log_gives_its_rate(pattern: str) -> None:
    """Ten lines, a second apart, of a program that prints 200 samples/s (or 32 in 0.16 s) are 200 samples each."""
    now = iter(range(10))
    reader = LogRates(pattern, 32, lambda: float(next(now)))
    steps = reader.feed(LINES[pattern].encode() * 10)
    assert [step.samples for step in steps] == [0] + [200] * 9
    assert [step.time for step in steps] == list(range(10))


def test_a_progress_bar_gives_the_rate_between_its_states() -> None:
    """Neon's bar counts batches and seconds since its epoch began, over carriage returns."""
    now = iter([0.0, 1.0, 2.0, 3.0])
    reader = LogRates("neon", 10, lambda: next(now))
    bar = "Epoch 0 [Train | | {}/390 batches, 2.30 cost, {}s]\r"
    text = bar.format(10, "1.0") + bar.format(30, "2.0") + bar.format(5, "0.5") + bar.format(15, "1.5")
    steps = reader.feed(text.encode())
    assert [(step.samples, step.epoch) for step in steps] == [(0, 0), (200, 0), (100, 1)]


def test_a_users_own_expression_needs_a_named_group() -> None:
    """A number without a meaning is refused with an example."""
    with pytest.raises(InputError, match="no group named rate"):
        LogRates(r"(\d+) it/s", 1, lambda: 0.0)
    with pytest.raises(InputError, match="not a regular expression"):
        LogRates("(", 1, lambda: 0.0)


def test_lines_cut_by_the_pipe_are_joined() -> None:
    """A rate that arrives in two reads is one line."""
    reader = LogRates("tensorflow", 1, lambda: 1.0)
    assert reader.feed(b"10\timages/sec: 2") == []
    assert len(reader.feed(b"00.0 +/- 0\n")) == 1


@pytest.mark.parametrize("found", ["1.2.3", "nan", "inf", "1e999", "-5", "1e30", "fast"])
def test_what_is_no_rate_is_passed_over(found: str) -> None:
    """A line that a wide expression also matches neither ends the run nor sets its clock."""
    now = iter([1.0, 2.0])
    reader = LogRates(r"rate (?P<rate>\S+)", 1, lambda: next(now))
    steps = reader.feed(f"rate 100\nrate {found}\nrate 100\n".encode())
    assert [step.samples for step in steps] == [0, 100]


@pytest.mark.parametrize("pattern", ["(?P<done>x)", "(?P<rate>x){99999999999999999999}", "(" * 5000 + ")" * 5000])
def test_an_expression_that_cannot_give_a_rate_is_refused(pattern: str) -> None:
    """In a sentence, before anything is run."""
    with pytest.raises(InputError):
        LogRates(pattern, 1, lambda: 0.0)


def test_an_optional_group_that_found_nothing_is_no_rate() -> None:
    """And no fault."""
    assert LogRates(r"line(?P<rate> \d+)?", 1, lambda: 0.0).feed(b"line\nline\n") == []


def test_samples_that_no_record_can_count_are_none() -> None:
    """A rate of 10^18 a second over ten seconds is no count that a run's file could hold."""
    now = iter([0.0, 1.0, 2.0, 3.0])
    reader = LogRates(r"rate (?P<rate>[\de]+)", 1, lambda: next(now))
    steps = reader.feed(b"rate 6e17\n" * 3 + b"rate 200\n")
    assert [step.samples for step in steps] == [0, 6 * 10**17, 200]
