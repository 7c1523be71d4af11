"""CPU or GPU: do published statements come out of `sizer recommend` on the tables that they were made from?

    python benchmarks/cpu_or_gpu/cpu_or_gpu.py

Prints the table of each job beside the K80 as `sizer recommend` does, then what was stated. Exit status 1 where a
statement does not come out.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from goals import GoalRow, printed

from sizer.catalog.catalog import Catalog
from sizer.exchange.imported import read_measurements
from sizer.model.fitting import fit
from sizer.model.model import Model
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer, CostRow, CostTable
from sizer.records.study import Objective
from sizer.words.costs import costs_lines
from sizer.words.names import terms_of

HERE = Path(__file__).parent
BASELINE = Objective(baseline="n1-standard-1 + K80")


def asked(name: str, objective: Objective) -> tuple[Model, dict[str, Answer]]:
    """The answers for a table of this folder, by workload."""
    catalog = Catalog.load()
    runs = read_measurements(HERE / name, catalog).runs
    model = fit(runs)
    return model, {answer.workload: answer for answer in recommend(model, runs, objective, catalog).workloads}


def costs_of(answer: Answer) -> CostTable:
    assert answer.costs is not None, "every job of the table has machines"
    return answer.costs


def vcpus(row: CostRow | None) -> float:
    return 0.0 if row is None or row.spec.vcpus is None else row.spec.vcpus


def step_ratio(answer: Answer, fewer: int, more: int) -> float:
    """How many times as long a step of the larger batch takes."""
    assert answer.batch is not None, "several batch sizes were measured"
    seconds = {point.batch_size: point.step_seconds for point in answer.batch.curves[0].points}
    return seconds[more] / seconds[fewer]


def statement(of: str, text: str, value: float, unit: str, goal: str, *, met: bool) -> GoalRow:
    return GoalRow(of, text, value, unit, goal, met, 1)


def main() -> int:
    model, answers = asked("cpu_or_gpu.csv", BASELINE)
    for name, answer in answers.items():
        print("\n".join([name, *(f"  {line}" for line in costs_lines(answer, terms_of(model.workload(name)))), ""]))
    table = []
    for name, answer in answers.items():
        costs = costs_of(answer)
        if costs.no_faster is not None:
            best, larger = costs.no_faster
            longer = 100 * (best.throughput.value / larger.throughput.value - 1)
            met = (vcpus(best), vcpus(larger)) == (32, 64)
            table.append(statement(name, "64 vCPUs take longer than 32 by", longer, " %", "no faster", met=met))
    _, spot = asked("cpu_or_gpu.csv", replace(BASELINE, spot=True))
    for name in ("imdb_bidirectional_lstm-2017-11", "mnist_mlp-2017-11", "mnist_cnn-2017-11", "cifar10_cnn-2017-11"):
        cheapest = vcpus(costs_of(spot[name]).cheapest_spot)
        table.append(statement(name, "vCPUs of the cheapest preemptible", cheapest, "", "16", met=cheapest == 16))
    name = "imdb_bidirectional_lstm-2017-07"
    slower = [(gpu.spec.gpu, vcpus(cpu)) for gpu, cpu in costs_of(answers[name]).slow_accelerators]
    fewest = dict(slower).get("K80", 0.0)
    table.append(statement(name, "the K80 is slower than so many vCPUs", fewest, "", "slower", met=fewest > 0))
    _, batches = asked("batches.csv", Objective())
    for name, fewer, more in (("vgg16-gtx1080", 64, 128), ("alexnet-k40m", 256, 512)):
        times = step_ratio(batches[name], fewer, more)
        table.append(statement(name, f"step of {more} over one of {fewer}", times, "", "> 2", met=times > 2))
    return printed(table)


if __name__ == "__main__":
    raise SystemExit(main())
