"""Whatever `recommend` can be asked for can stand in the study file, in the same units."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.api import parse_study
from sizer.records.errors import InputError
from sizer.records.study import Deadline, Objective
from sizer.study.resolved import to_yaml

TRAIN = "workloads:\n  - kind: image_training\n"


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("{}", Objective()),
        ("{prefer: balanced}", Objective("balanced")),
        ("{samples: 1.2M, within: 6h}", Objective(deadline=Deadline(1.2e6, 21600.0))),
        ("{samples: 1200000, within: 90s}", Objective(deadline=Deadline(1.2e6, 90.0))),
        ("{samples: 1.5e3, within: 0.5h}", Objective(deadline=Deadline(1500.0, 1800.0))),
        ("{at_least: 1.2k}", Objective(at_least=1200.0)),
        ("{at_least: 512.5, spot: true}", Objective(at_least=512.5, spot=True)),
        ("{gpus: [T4, V100]}", Objective(gpus=("T4", "V100"))),
        ("{prefer: fastest, target: 0.9, latency_p99: 20}", Objective("fastest", 0.9, latency_p99=0.02)),
    ],
)
def test_an_objective_is_read_and_written_again(written: str, asked: Objective) -> None:
    study = parse_study(TRAIN + f"objective: {written}\n", "study")
    assert study.objective == asked
    assert parse_study(to_yaml(study), "study").objective == asked


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{samples: 1.2M}", "`objective` has only one of `samples` and `within`; write both, such as {samples: 1.2M, "),
        ("{within: 6h}", "`objective` has only one of"),
        ("{samples: 1.2M, within: 6}", "'6' is not a time; write a number and its unit, such as 90s, 30m, 6h or 2d."),
        ("{samples: many, within: 6h}", "'many' is not a number of samples;"),
        ("{at_least: -5}", "'-5' is not a rate;"),
        ("{latency_p99: 20ms}", "is not a number of milliseconds;"),
        ("{at_least: 5, target: 0.9}", "`at_least` already asks for the cheapest spec that is fast enough; leave out"),
        ("{samples: 5, within: 1h, prefer: fastest}", "`samples` already asks for the cheapest spec"),
        ("{samples: 5, within: 1h, at_least: 5}", "already say how fast it must be; leave out `at_least`."),
        ("{spot: 1}", "`spot` in `objective` must be true to choose by spot prices, not `1`."),
        ("{gpus: [T4, V1000]}", "The catalogue knows no GPU `V1000`; did you mean `V100`?"),
        ("{within: [6h], samples: 5}", "`within` in `objective` must be the time in which it must be finished,"),
    ],
)
def test_what_is_no_objective_is_refused_in_one_sentence(written: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_study(TRAIN + f"objective: {written}\n", "study")
    assert "study.yaml line 3: " in str(refused.value)
    assert said in str(refused.value)


def test_a_time_is_written_as_people_say_it() -> None:
    study = parse_study(TRAIN, "study")
    for seconds, spelt in ((21600.0, "6h"), (5400.0, "90m"), (90.5, "90.5s")):
        asked = replace(study, objective=Objective(deadline=Deadline(1e6, seconds)))
        assert f"within: {spelt}}}" in to_yaml(asked)
