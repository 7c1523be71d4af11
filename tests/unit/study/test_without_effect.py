"""What a study file says of a workload that would change nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.errors import InputError
from sizer.records.study import Study
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]
NOTHING_READ = "changes nothing with `input: synthetic`, which reads and decodes nothing; remove this line"


@pytest.mark.parametrize(
    ("kind", "keys", "said"),
    [
        ("image_training", "input: synthetic, data: /data/imagenet", f"`data` {NOTHING_READ}"),
        ("image_inference", "input: synthetic, format: folder", f"`format` {NOTHING_READ}"),
        ("language_training", "input: synthetic, format: text", f"`format` {NOTHING_READ}"),
        ("image_training", "input: synthetic, cache: warm", f"`cache: warm` {NOTHING_READ}"),
        ("image_training", "input: synthetic, cache: natural", f"`cache: natural` {NOTHING_READ}"),
        ("image_training", "input: synthetic, isolate: true", f"`isolate` {NOTHING_READ}"),
        (
            "image_training",
            "device: {emulate: {gpu: P100; source: me}}",
            "`source` belongs to `samples_per_second`, which is not given",
        ),
        (
            "image_training",
            "device: {emulate: {gpu: P100; basis: published}}",
            "`basis` belongs to `samples_per_second`",
        ),
        ("image_training", "device: {emulate: {gpu: P100; scaling_source: me}}", "belongs to `scaling_loss`"),
        ("image_training", "input: cached, cache: cold", "so its cache is warm; remove this line"),
        ("imagenet_preprocessing", "input: cached, cache: natural", "so its cache is warm; remove this line"),
    ],
)
def test_it_is_refused_with_its_line(parse: Parse, kind: str, keys: str, said: str) -> None:
    """Else a record would say what was not so."""
    own = "\n    ".join(keys.split(", ")).replace(";", ",")
    line = 4 if ", " in keys else 3
    with pytest.raises(InputError, match=f"line {line}: ") as refused:
        parse(f"workloads:\n  - kind: {kind}\n    {own}\n")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "keys",
    [
        "input: synthetic",
        "input: synthetic, cache: cold, isolate: false",
        "input: cached, cache: warm",
        "input: cached, format: lmdb",
        "data: /data/train.rec, format: recordio, cache: natural",
    ],
)
def test_what_is_so_anyway_or_has_an_effect_is_taken(parse: Parse, keys: str) -> None:
    """Also where the whole study isolates stages: that is not said of this workload."""
    assert parse(f"isolate: true\nworkloads: [{{kind: image_training, {keys}}}]\n")


def test_a_study_that_sizer_wrote_holds_every_default(parse: Parse) -> None:
    """It is read again, and so is one of before, when these were taken."""
    study = parse("workloads: [{kind: image_training, input: synthetic}]\n")
    written = to_yaml(study)
    assert parse(written) == study
    before = written.replace("cache: cold", "cache: warm").replace("format: recordio", "format: lmdb\n  data: /data/x")
    assert (parse(before).workloads[0].workload.cache, parse(before).workloads[0].workload.data) == ("warm", "/data/x")
