"""A machine that nobody can rent any more is never the answer, and its price is no basis of a cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.run import Demand, Run
from sizer.records.study import Objective
from sizer.words.accelerators import gpu_option_lines, gpus_compared
from sizer.words.answers import main_sentences
from sizer.words.names import Terms, terms_of
from sizer.words.reasons import reason_sentences

NAMED = """
    instance_type,latency_p99_ms,usd_per_hour,throughput
    g4dn.xlarge,8,,200
    g5.xlarge,9,,410
    p3.2xlarge,2,{usd},4000
    azure/NC6s v2,2,,3000
"""
SAID = "Nobody can rent aws p3.2xlarge (retired 2026) and azure NC6s v2 (retired 2023) any more: measured, but "


def _names(answer: Answer) -> set[str | None]:
    return {each.instance_type for each in (*answer.alternatives, *answer.instances)}


@pytest.mark.parametrize("usd", ["", "0.01"])
@pytest.mark.parametrize(
    "objective",
    [{}, {"prefer": "fastest"}, {"prefer": "balanced"}, {"at_least": 390.0}, {"latency_p99": 0.02}, {"spot": True}],
)
def test_a_retired_machine_of_a_table_is_not_the_answer(
    ask_table: Callable[..., Answer], usd: str, objective: dict[str, object]
) -> None:
    """However fast it was, and however little the table says it cost."""
    answer = ask_table(NAMED.format(usd=usd), **objective)
    assert (answer.spec.gpu, answer.status) == ("A10G", "recommended")
    assert not any(name and ("p3." in name or "NC6s" in name) for name in _names(answer))
    assert sum(sentence.startswith(SAID) for sentence in main_sentences(answer, Terms("image"))) == 1


@pytest.mark.parametrize(
    ("rows", "objective"),
    [
        ("instance_type,throughput\np3.2xlarge,400\np3.8xlarge,1500\nNC6s v2,300", {}),
        ("instance_type,throughput\np3.2xlarge,400", {"prefer": "fastest"}),
        ("instance_type,latency_p99_ms,throughput\np3.2xlarge,2,400\ng5.xlarge,,300", {"latency_p99": 0.02}),
    ],
)
def test_where_only_retired_machines_would_do_there_is_no_answer(
    ask_table: Callable[..., Answer], rows: str, objective: dict[str, object]
) -> None:
    answer = ask_table(rows, **objective)
    assert (answer.status, answer.spec) == ("refused", None)
    said = reason_sentences(answer.reasons, Terms("image"))
    assert said[0].startswith("Nobody can rent aws p3.2xlarge (retired 2026)")


@pytest.mark.parametrize(
    ("gpu", "spot", "said"),
    [
        ("K80", False, "Nobody can rent a machine with this GPU any more (retired 2026)."),
        ("P100", False, "Nobody can rent a machine with this GPU at a known price any more (retired 2023)."),
        ("P100", True, None),
        ("V100", False, None),
        ("Z9000", False, None),
    ],
)
def test_who_emulates_a_gpu_that_is_gone_is_told(
    curve: Callable[..., list[Run]], catalog: Catalog, gpu: str, spot: bool, said: str | None
) -> None:
    runs = curve((1, 100), (2, 190), (4, 215), (8, 217), device=Device("emulated", gpu=gpu, samples_per_second=219))
    model = fit(runs)
    answer = recommend(model, runs, Objective(spot=spot), catalog).workloads[0]
    assert answer.spec is not None
    about = [
        sentence for sentence in main_sentences(answer, terms_of(model.workloads[0])) if sentence.startswith("Nobody")
    ]
    assert about == ([] if said is None else [said])
    assert not any(instance.instance_type.startswith(("NC", "p2.", "p3.")) for instance in answer.instances)


def test_a_retired_gpu_that_was_asked_about_is_no_choice(make_run: Callable[..., Run], catalog: Catalog) -> None:
    """It has its rate, without a machine and a price, and is not among those that are compared."""
    runs = [
        make_run(min(100 * vcpus, 181.0), vcpus, device=Device("emulated", gpu="P100", samples_per_second=181.5))
        for vcpus in (0.5, 1.0, 2.0, 4.0)
    ]
    runs = [replace(run, demand=Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)) for run in runs]
    model = fit(runs)
    options = recommend(model, runs, Objective(gpus=("K80", "T4", "V100")), catalog).workloads[0].gpus
    terms = terms_of(model.workloads[0])
    lines = {option.gpu: gpu_option_lines(option, terms) for option in options}
    assert "Nobody can rent a machine with this GPU any more (retired 2026)." in lines["K80"]
    assert not any("Nobody" in line for gpu in ("T4", "V100") for line in lines[gpu])
    assert options[0].instance_type is None
    assert "K80" not in " ".join(gpus_compared(options, terms))


def test_a_catalogue_of_ones_own_may_retire_types(curve: Callable[..., list[Run]], catalog: Catalog) -> None:
    """The cheapest that would hold the answer is then the next one."""
    runs = curve((1, 100), (2, 190), (4, 215), (8, 217))
    model = fit(runs)

    def cheapest(offers: Catalog) -> str:
        return recommend(model, runs, Objective(), offers).workloads[0].instances[0].instance_type

    first = cheapest(catalog)
    types = tuple(
        replace(type_, retired=2024) if type_.instance_type == first else type_ for type_ in catalog.instance_types
    )
    assert cheapest(replace(catalog, instance_types=types)) != first
