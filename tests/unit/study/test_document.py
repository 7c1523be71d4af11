"""A file keeps its lines and is refused in words; rates of emulated accelerators are looked up or given."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.catalog import Catalog
from sizer.records.device import Device
from sizer.records.messages import InputError
from sizer.records.study import Limits, Measure, RunSpec, Study
from sizer.study import document
from sizer.study.document import read_document
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml
from sizer.words.language import in_words

# A YAML text as plain values that know their lines, and values that only the study refuses.


BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_an_error_stands_at_the_nearest_value() -> None:
    """A key that the file does not hold is reported at what is around it."""
    document = read_document("a: 1\nb:\n  c: 2\n", "f.yaml")
    assert str(document.input_error(("b", "missing", 0), "wrong")) == "f.yaml line 2: wrong"
    assert str(document.input_error((), "wrong")) == "f.yaml line 1: wrong"


def test_anchors_are_harmless() -> None:
    """An alias is the value it names."""
    assert read_document("a: &x [1, 2]\nb: *x\n", "f").data == {"a": [1, 2], "b": [1, 2]}


def test_keys_are_text_and_times_are_not_numbers() -> None:
    """YAML 1.1 would read `on` as true, 1:30 as ninety and 2024-01-01 as a date."""
    assert read_document("on: 1:30\n1: 2024-01-01\n", "f").data == {"on": "1:30", "1": "2024-01-01"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# only a comment\n", "f is empty"),
        ("a:\n\tb: 1\n", "f line 2 is not YAML: a tab"),
        ("a: [1\n", "f line 2 is not YAML"),
        ("a: 1\nb: 2\na: 3\n", "f line 3: `a` is already on line 1"),
        ("a: 1\n---\nb: 2\n", "f line 2 is not YAML: a second document"),
        ("a: !!python/object/apply:os.system [ls]\n", "f line 1: the tag"),
        ("a: !mine {b: 1}\n", "f line 1: the tag '!mine'"),
        ("a: !!binary aGk=\n", "f line 1: the tag"),
        ("a: 1\nb: -.inf\n", "f line 2: '-.inf' is not a finite number"),
        (
            "a:\n  b: [1, 0b" + "1" * 13_000 + "]\n",
            "...' is too large for `b`",
        ),
        ("a: -" + "9" * 4000 + "\n", "...' is too large for `a`"),
        ("a: 1.5e+300\n", "f line 1: '1.5e+300' is too large for `a`"),
        ("? [a]\n: 1\n", "f line 1: a key must be a single word"),
        (BOMB, "the aliases here expand to more values"),
        ("a: " + "[" * 5000, "nested too deeply"),
        ('a: "\\ud800"\n', "f line 1: a character that cannot be printed"),
        ('a: 1\nb: "\\u202e"\n', "f line 2: a character that cannot be printed"),
        ("a: 1\nb: x\u200by\n", "f line 2: a character that cannot be printed"),
        ("a: 1 # \u2066 b\n", "f line 1: a character that cannot be printed"),
        ("a: 1\r\nb: x\u2029\r\n", "f line 2: a character that cannot be printed"),
        ("a: x\u00a0y\n", "f line 1: a character that cannot be printed"),
        ("\u2060a: 1\n", "f line 1: a character that cannot be printed"),
        ("a: 1\nb: \x07\n", "f line 2: a character that cannot be printed"),
        ('a: "\\UFFFFFFFF"\n', "f is not YAML"),
        ("a: !!int x\n", "f line 1: 'x' cannot be read as a YAML int"),
        ("a: " + "9" * 5000 + "\n", "f line 1: '999"),
        ("a: *nothing\n", "f line 1 is not YAML"),
        ("x" * 1_000_001, "longer than"),
    ],
)
def test_what_is_not_plain_yaml_is_one_sentence(text: str, sentence: str) -> None:
    """Broken, hostile and merely odd files are refused with their line."""
    with pytest.raises(InputError) as caught:
        read_document(text, "f")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`, \n\t\\0x1.~?<=", max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    """No text raises anything but InputError."""
    with contextlib.suppress(InputError):
        read_document(text, "f")


Parse = Callable[..., Study]
ONE = "workloads:\n  - {kind: image_training, network: resnet50}\n"


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        call()
    return in_words(error.value)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (
            "workloads:\n  - {kind: image_training, network: resnet50, device: {emulate: {gpu: P100}}}\n",
            "the catalogue has no rate for P100; write its samples_per_second.",
        ),
        (
            f"{ONE}axes: {{disk: [cloud]}}\ndisks: {{cloud: {{emulate: alibaba/cloud_ssd, size: 500GiB}}}}\n",
            "the catalogue has no figures for alibaba/cloud_ssd; write its read_mbps.",
        ),
    ],
)
def test_without_a_catalogue_figures_have_to_be_written(text: str, ending: str) -> None:
    """A study that is read where no catalogue is at hand says which figure it needs."""
    sentence = refused(lambda: parse_study(text, "study.yaml", None, HostSize(4, 2**34), None))
    assert "line 2" in sentence or "line 4" in sentence
    assert sentence.endswith(ending)


def test_a_character_that_yaml_refuses_is_named_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of YAML finds some that are not looked for before it."""

    def compose(text: str, **_options: object) -> None:
        raise yaml.reader.ReaderError("study.yaml", text.index("!"), ord("!"), "unicode", "not allowed")

    monkeypatch.setattr("sizer.study.document.yaml.compose", compose)
    sentence = refused(lambda: document._compose("a: 1\nb: !\n", "study.yaml"))
    assert "study.yaml" in sentence
    assert "line 2" in sentence


def test_a_folder_whose_name_cannot_be_printed_gives_no_paths(tmp_path: Path) -> None:
    """A relative path would put that name into every line of the report."""
    sentence = refused(lambda: document.Document(f"{tmp_path}/a\x07b/study.yaml").locate("images"))
    assert sentence.endswith("move it, or write absolute paths.")
    assert document.Document(f"{tmp_path}/a/study.yaml").locate("images") == f"{tmp_path}/a/images"


# How many accelerators a workload has, and the rate of an emulated one at each batch size.


EMULATED = "workloads:\n  - {kind: image_training, network: resnet50, device: {emulate: {gpu: P100}}}\n"


def test_runs_of_one_accelerator_are_those_of_before(parse: Parse) -> None:
    """An axis that is added to a finished study measures what is new alone."""
    before = parse(EMULATED)
    after = parse(f"{EMULATED}axes: {{gpu_count: [1, 2]}}\n")

    def spec(study: Study, gpu_count: int) -> RunSpec:
        return RunSpec(study.workloads[0].workload, 32, Limits(1.0), study.measure, gpu_count=gpu_count)

    assert spec(before, 0).id == spec(after, 1).id == spec(after, 0).id
    assert spec(after, 2).id != spec(after, 1).id


HOST = HostSize(4, 16 * 2**30)
SEVERAL = """workloads:
  - {kind: image_training, network: resnet50, batch_size: [128, 32, 64], device: {emulate: {gpu: V100}}}
"""


def parsed(text: str, catalog: Catalog | None = None) -> Study:
    return parse_study(text, "study.yaml", None, HOST, catalog)


def device_of(text: str, catalog: Catalog | None = None) -> Device:
    return parsed(text, catalog).workloads[0].workload.computes_on


def run_of(study: Study, batch_size: int) -> RunSpec:
    return RunSpec(study.workloads[0].workload, batch_size, Limits(1.0), Measure())


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load()


def test_each_batch_size_has_its_own_rate(catalog: Catalog) -> None:
    """All of one table, in the order of the batch sizes; that of the middle one stands for the device."""
    device = device_of(SEVERAL, catalog)
    assert [rate.batch_size for rate in device.batch_rates] == [32, 64, 128]
    slow, middle, fast = (rate.samples_per_second for rate in device.batch_rates)
    assert slow < middle < fast
    assert device.samples_per_second == middle
    assert len({rate.source.removeprefix("interpolated: ") for rate in device.batch_rates}) == 1


def test_a_run_waits_for_the_rate_of_its_batch(catalog: Catalog) -> None:
    """And says so: its device has one rate."""
    study = parsed(SEVERAL, catalog)
    rates = {rate.batch_size: rate.samples_per_second for rate in study.workloads[0].workload.computes_on.batch_rates}
    for batch_size, rate in rates.items():
        device = run_of(study, batch_size).device
        assert (device.samples_per_second, device.batch_rates) == (rate, ())


def test_rates_can_be_given_for_each_batch_size() -> None:
    """Without one for all, the middle one's is; two for one batch size contradict each other."""
    rates = "batch_rates: [{batch_size: 64, samples_per_second: 90}, {batch_size: 32, samples_per_second: 60}]"
    device = device_of(SEVERAL.replace("gpu: V100", rates))
    assert (device.samples_per_second, device.at_batch(20).samples_per_second) == (90.0, 60.0)
    with pytest.raises(InputError, match="two rates for a batch of 64"):
        device_of(SEVERAL.replace("gpu: V100", rates.replace("32", "64")))


def test_the_id_of_a_run_follows_from_its_own_rate_alone(catalog: Catalog) -> None:
    """So a study that gets another batch size keeps the runs that it has."""
    study = parsed(SEVERAL, catalog)
    device = run_of(study, 32).device
    alone = f"gpu: V100, samples_per_second: {device.samples_per_second!r}, source: {device.source!r}"
    assert run_of(parsed(SEVERAL.replace("gpu: V100", alone)), 32).id == run_of(study, 32).id
    assert run_of(parsed(SEVERAL.replace("gpu: V100", alone)), 64).id != run_of(study, 64).id


def test_a_rate_says_how_sure_it_is_and_where_it_comes_from(catalog: Catalog) -> None:
    """Also in the resolved study, which has no catalogue; no id of a run follows from it."""
    study = parsed(SEVERAL.replace("[128, 32, 64]", "[32, 64, 1024]"), catalog)
    rates = study.workloads[0].workload.computes_on.batch_rates
    assert [rate.basis for rate in rates] == ["published", "published", "extrapolated"]
    for rate in rates:
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low < rate.samples_per_second < rate.high
    again = parsed(to_yaml(study)).workloads[0].workload.computes_on
    assert [(rate.low, rate.high, rate.basis) for rate in again.batch_rates] == [
        (rate.low, rate.high, rate.basis) for rate in rates
    ]
    assert (run_of(study, 32).device.rate_unsure, run_of(study, 1024).device.rate_unsure) == (False, True)


def test_an_interval_can_be_given_with_its_rate() -> None:
    """It must hold the rate, and both ends are needed."""
    given = "samples_per_second: 100, low: 80, high: 130"
    device = device_of(SEVERAL.replace("gpu: V100", given))
    assert (device.rate_low, device.rate_high, device.rate_unsure) == (80.0, 130.0, True)
    for wrong in ("low: 80", "low: 110, high: 130", "low: 90, high: 95"):
        with pytest.raises(InputError, match="line 2: `low` and `high` are the ends"):
            device_of(SEVERAL.replace("gpu: V100", f"samples_per_second: 100, {wrong}"))
    with pytest.raises(InputError, match="line 2: `low` and `high` are the ends"):
        device_of(SEVERAL.replace("gpu: V100", "gpu: V100, low: 80, high: 90"))
