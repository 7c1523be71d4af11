"""A log becomes steps: by counters, by told rates, by the program's own batch size; and what is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from sizer.analysis.log_lines.recognising import read_log
from sizer.analysis.log_rates import Disagreement, LogRates, Reason, StatedLine, disagreement, numbers_of
from sizer.records.messages import InputError
from sizer.records.run import CauseKind, Step, WarningKind


class Clock:
    """Stands at the time that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fed(reader: LogRates, clock: Clock, lines: Iterable[str], seconds: float = 1.0) -> list[Step]:
    """The steps of lines of which one comes each so many seconds."""
    steps = []
    for line in lines:
        steps += reader.feed(f"{line}\n".encode())
        clock.now = round(clock.now + seconds, 6)
    return steps


def reading(pattern: str | None, batch_size: int = 1) -> tuple[LogRates, Clock]:
    clock = Clock()
    return LogRates(pattern, batch_size, clock), clock


def word_lines(counts: Iterable[int], milliseconds: float) -> Iterator[str]:
    """Lines of the word-level language model, which tell the same time a batch."""
    for count in counts:
        yield f"| epoch   1 | {count:5d}/ 1444 batches | lr 20.00 | ms/batch {milliseconds:.2f} | loss  6.04 | ppl 42.0"


def test_what_a_counter_grew_by_was_done() -> None:
    """However long it took, and whatever the line says of a batch's time; from the first line on, though only
    the second one shows whose they are."""
    reader, clock = reading(None, 20)
    steps = fed(reader, clock, word_lines(range(200, 1000, 200), 13.94))
    assert reader.recognised == "pytorch_word_language_model"
    assert [(step.time, step.samples, step.epoch) for step in steps] == [
        (0.0, 0, 0),
        (1.0, 4000, 0),
        (2.0, 4000, 0),
        (3.0, 4000, 0),
    ]


def test_an_evaluation_takes_time_and_counts_nothing() -> None:
    """The first line after it counts the batches of both epochs, and the epoch is another one."""
    reader, clock = reading(None, 10)
    lines = [*word_lines([1000, 1200, 1400], 10.0), "| end of epoch   1 | time: 30.00s | valid loss  5.44 | ppl 230.00"]
    after = "| epoch   2 |   200/ 1444 batches | lr 20.00 | ms/batch 10.00 | loss  6.04 | ppl 420.00"
    steps = fed(reader, clock, [*lines, after])
    assert [(step.time, step.samples, step.epoch) for step in steps] == [
        (0.0, 0, 0),
        (1.0, 2000, 0),
        (2.0, 2000, 0),
        (4.0, 2440, 1),
    ]


THOUSANDS = ("1,280", "1'280", "1_280", "1 280", "1\u202f280", "1\u2019280", "1280", "1,280,")
NO_RATES = ("1.2.3", "nan", "inf", "1e999", "-5", "1e30", "fast")


@pytest.mark.parametrize(
    ("pattern", "batch_size", "lines", "samples"),
    [
        # A time or a rate of batches is made samples.
        (r"(?P<seconds>[\d.]+) s", 32, ["0.160 s"] * 3, [0, 200, 200]),
        (r"(?P<milliseconds>[\d.]+) ms", 32, ["160 ms"] * 3, [0, 200, 200]),
        (r"(?P<batches>[\d.]+) it/s", 32, ["6.25 it/s"] * 3, [0, 200, 200]),
        # A counter is of batches or of samples, of the run or of an epoch, whose length may be told.
        (r"step (?P<step>\d+)", 8, ["step 5", "step 15", "step 15", "step 40"], [0, 80, 200]),
        (r"seen (?P<samples>\d+)", 8, ["seen 5", "seen 15", "seen 15", "seen 40"], [0, 10, 25]),
        (
            r"epoch (?P<epoch>\d) step (?P<step>\d)",
            8,
            [f"epoch {e} step {s}" for e, s in ("18", "19", "21")],
            [0, 8, 8],
        ),
        (r"(?P<step>\d+) of (?P<total>\d+)", 8, ["6 of 10", "9 of 10", "2 of 10", "4 of 10"], [0, 24, 24, 16]),
        *((r"step (?P<step>[^;]+);", 1, ["step 900;", f"step {text};"], [0, 380]) for text in THOUSANDS),
        # A line that a wide expression also matches neither ends the run nor sets its clock.
        *((r"rate (?P<rate>\S+)", 1, ["rate 100", f"rate {text}", "rate 100"], [0, 200]) for text in NO_RATES),
        (r"line(?P<rate> \d+)?", 1, ["line", "line"], []),
        ("keras", 1, [*word_lines(range(200, 1000, 200), 13.94)], []),
    ],
)
def test_what_the_lines_of_an_expression_count(
    pattern: str, batch_size: int, lines: list[str], samples: list[int]
) -> None:
    reader, clock = reading(pattern, batch_size)
    assert [step.samples for step in fed(reader, clock, lines)] == samples


def test_a_bar_is_of_when_it_was_drawn() -> None:
    """Not of when the next one is drawn over it. Keras goes back by so many backspaces first, Ultralytics clears."""
    for erased in ("", "\b" * 40, "\x1b[K"):
        reader, clock = reading(None, 1)
        reader.feed(b"Epoch 1/2\n")
        steps = []
        for done in (1, 3, 4, 10):
            clock.now = float(done)
            bar = f"\x1b[1m{done}/1250\x1b[0m \x1b[37m━━━━━━━━━━━━━━━━━━━━\x1b[0m \x1b[1m12s\x1b[0m 10ms/step"
            steps += reader.feed(f"{erased}\r{bar}".encode())
        assert [(step.time, step.samples) for step in steps] == [(1.0, 0), (3.0, 2), (4.0, 1)], erased
        clock.now = 60.0
        steps = reader.feed(b"\n")
        assert [(step.time, step.samples) for step in steps] == [(10.0, 6)]


def test_a_process_that_lags_behind_begins_no_epoch() -> None:
    """Two draw the same bar, the second one a batch or two later."""
    reader, clock = reading("tqdm", 1)
    bars = [f"{n}%|█ | {n}/100 [00:01<00:09, 10.0it/s]" for n in (1, 0, 2, 1, 3, 1, 5, 3)]
    steps = fed(reader, clock, bars)
    assert [(step.samples, step.epoch) for step in steps] == [(0, 0), (1, 0), (1, 0), (2, 0)]


def test_by_its_own_rate_a_program_says_how_many_samples_a_batch_has() -> None:
    """MXNet's Speedometer tells samples/s and counts batches: 32 of them a batch, whatever the study says."""
    lines = [f"Epoch[0] Batch [{count}-{count + 20}]\tSpeed: 640.00 samples/sec" for count in range(0, 200, 20)]
    for batch_size, warned in ((1, []), (30, []), (64, [WarningKind.OTHER_BATCH_SIZE])):
        reader, clock = reading(None, batch_size)
        steps = fed(reader, clock, lines)
        per_batch = 30 if batch_size == 30 else 32
        assert {step.samples for step in steps[1:]} == {20 * per_batch}
        assert [warning.kind for warning in reader.finish()] == warned


def test_milliseconds_given_as_seconds_are_refused() -> None:
    """154.72 ms a batch, read as seconds: each line is five batches further, and comes after 0.77 s."""
    reader, clock = reading(r"ms/batch +(?P<seconds>[\d.]+)", 20)
    fed(reader, clock, word_lines(range(5, 100, 5), 154.72), seconds=0.7736)
    assert reader.refusal.kind is CauseKind.TOLD_MILLISECONDS
    assert reader.refusal.figures["told"] == 154.72
    assert reader.refusal.figures["seen"] == pytest.approx(0.1547, rel=0.01)


def test_milliseconds_as_milliseconds_are_as_they_come() -> None:
    """The same lines; but they all tell the same, so that they are one reading."""
    reader, clock = reading(r"ms/batch +(?P<milliseconds>[\d.]+)", 20)
    fed(reader, clock, word_lines(range(5, 100, 5), 154.72), seconds=0.7736)
    assert reader.refusal is None
    assert [warning.kind for warning in reader.finish()] == [WarningKind.ONE_READING]


def test_lines_cut_by_the_pipe_are_joined() -> None:
    """A rate that arrives in two reads is one line."""
    reader = LogRates("tensorflow", 1, lambda: 1.0)
    assert reader.feed(b"10\timages/sec: 2") == []
    assert len(reader.feed(b"00.0 +/- 0\n")) == 1


@pytest.mark.parametrize("pattern", ["(?P<epoch>x)", "(?P<rate>x){99999999999999999999}", "(" * 5000 + ")" * 5000])
def test_an_expression_that_cannot_give_a_rate_is_refused(pattern: str) -> None:
    """In a sentence, before anything is run."""
    with pytest.raises(InputError):
        LogRates(pattern, 1, lambda: 0.0)


def test_a_flood_is_read_again_and_again_by_its_last_line() -> None:
    """Nothing is left of the allowance, and none of the reads goes by without a look."""
    reader, _ = reading(r"step (?P<step>\d+)")
    reader.feed(b"step 1\n" * 100_000)
    assert [len(reader.feed(f"x\nstep {number}\n".encode())) for number in range(2, 5)] == [1, 1, 1]


@pytest.mark.parametrize("text", ["1,5", "12,34", "1234,567", "0,123", "1,23,456", "1.234,5"])
def test_a_decimal_comma_is_no_separator_of_thousands(text: str) -> None:
    """What cannot be told apart is not read, and what it stood in is kept to be shown."""
    reader, clock = reading(r"rate (?P<rate>\S+)", 1)
    assert fed(reader, clock, [f"rate {text}"] * 2) == []
    assert reader.no_rate == f"rate {text}"


@pytest.mark.parametrize(
    ("text", "seconds"), [("0:00:10", 10.0), ("1:02:03", 3723.0), ("02:03.5", 123.5), ("1 day, 0:00:01", 86401.0)]
)
def test_elapsed_may_be_as_on_a_clock(text: str, seconds: float) -> None:
    """`h:mm:ss`, as timedelta and tqdm print it."""
    (line,) = read_log(f"done 10 in {text};", r"done (?P<done>\d+) in (?P<elapsed>[^;]+);").read
    assert line.reading.elapsed == seconds


def test_batches_are_told_from_ranks_on_a_busy_host() -> None:
    """Lines that come 10 % late make a factor of 29 of a batch of 32, which are not 29 processes."""
    reader, clock = reading(r"rate (?P<rate>[\d.]+)", 32)
    fed(reader, clock, [f"step {step} rate {20 + step % 3 * 0.1:.2f}" for step in range(30)], seconds=0.0552)
    assert [warning.kind for warning in reader.finish()] == [WarningKind.BATCHES_FOR_SAMPLES]


def lines(
    stated: float,
    apart: float = 1.0,
    counter_step: int | None = None,
    text: str = "",
    count: int = 20,
    start: float = 0.0,
) -> list[StatedLine]:
    """Lines so many seconds apart; `counter_step` is what their counter grows by, `{}` in a text a number that does."""
    return [
        StatedLine(
            start + index * apart,
            stated,
            index * counter_step if counter_step is not None else None,
            numbers_of(text.format(10 * index)),
        )
        for index in range(count)
    ]


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (0.1, None),
        (0.119, None),
        (0.085, None),
        (0.13, Reason.UNKNOWN),
        (0.07, Reason.UNKNOWN),
        (0.4, Reason.RANKS),
        (100.0, Reason.MILLISECONDS),
        (84.0, Reason.MILLISECONDS),
        (119.0, Reason.MILLISECONDS),
        (0.0001, Reason.MILLISECONDS),
        (6.0, Reason.MINUTES),
        (0.1 / 60, Reason.MINUTES),
    ],
)
def test_each_disagreement_has_its_likely_reason(stated: float, reason: Reason | None) -> None:
    """Ten batches a line and a second: a batch takes 0.1 s."""
    doubt = disagreement(lines(stated, counter_step=10), 1, False)
    assert (doubt.reason if doubt else None) is reason
    if doubt is not None:
        assert (doubt.stated, doubt.seen) == (stated, pytest.approx(0.1))


def test_any_number_that_grows_by_the_same_is_a_counter() -> None:
    """Neither the number of the epoch, nor a time of day, a share or a loss."""
    text = "2024-01-01 10:00:05,123 epoch 3 [{}/5005] 12% loss 4.25 took 3 s"
    assert numbers_of(text.format(20)) == (3, 20, 5005)
    doubt = disagreement(lines(100.0, text=text), 1, False)
    assert doubt == Disagreement(Reason.MILLISECONDS, 100.0, pytest.approx(0.1))
    assert disagreement(lines(0.1, text=text), 1, False) is None


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (0.1, None),
        (1.1, None),
        (4.0, Reason.RANKS),
        (2.5, Reason.UNKNOWN),
        (154.7, Reason.MILLISECONDS),
        (60.0, Reason.MINUTES),
    ],
)
def test_without_a_counter_a_line_is_one_batch_at_least(stated: float, reason: Reason | None) -> None:
    """A line a second: a batch takes a second at the most."""
    doubt = disagreement(lines(stated), 1, False)
    assert (doubt.reason if doubt else None) is reason


def test_a_rate_of_samples_is_right_where_nobody_said_how_large_a_batch_is() -> None:
    """640 samples/s and 10 batches/s are batches of 64."""
    assert disagreement(lines(1 / 640, counter_step=10), 1, True) is None


def test_lines_that_came_out_of_a_buffer_are_one_interval() -> None:
    """Twenty at once, each 20 s: not a batch in no time."""
    burst = [StatedLine(20.0 * (index // 20), 1.0) for index in range(200)]
    assert disagreement(burst, 1, False) is None
