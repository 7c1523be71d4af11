"""What a study file says of a workload that would change nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.study import Study
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]


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
