"""The findings of the Alibaba Cloud 2018 performance model, with its machine emulated here: which of them come out.

    python benchmarks/alibaba/alibaba.py [--repeats 2] [--seconds 4] [--out DIR] [--judge]

Measures a study (107 runs, about 18 minutes) of training, inference, preprocessing and an LSTM on a gn5 instance with
one P100 and its three disks (`alibaba_machine.py`: every figure with its source, and the one factor), and prints each
finding beside the ratio that was seen, whether it comes out, and what bound the runs; then what sizer itself answers.
A P100's step is waited for, not computed; disks have their IOPS and MB/s, not their latency. `--judge` only prints,
from runs that are in DIR. A finding that does not come out is a result: the exit status is 0. Needs root.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alibaba_machine import FACTOR
from alibaba_study import study_text

sys.path.append(str(Path(__file__).parents[1] / "grid"))

from alibaba_findings import PublishedRatio, findings

from sizer.files.codec import load_json
from sizer.records.messages import NoAnswer, SizerError
from sizer.store.study_folder import StudyFolder


def main() -> int:
    given = _arguments()
    study, folder = given.out / "alibaba.yaml", given.out / "alibaba"
    if not given.judge:
        given.out.mkdir(parents=True, exist_ok=True)
        study.write_text(study_text(given.repeats, given.seconds))
        ended = subprocess.run([*SIZER, "run", str(study), "--out", str(folder)], check=False).returncode
        if ended != 0:
            print(f"alibaba: not every run was completed; start it again, or see: sizer status {folder}")
            return ended
    try:
        show(list(findings(StudyFolder.open(folder).runs())))
        show_answer(folder)
    except KeyError as missing:
        print(f"alibaba: {missing.args[0]} was not measured; start it again without --judge")
        return 2
    except SizerError as error:
        print(f"alibaba: {error}")
        return error.exit_code
    return 0


SIZER = (sys.executable, "-m", "sizer")


def show(found: Sequence[PublishedRatio]) -> None:
    """One line a finding, then how many come out."""
    print(f"factor {FACTOR:g}: rates and disks here over those of then")
    line = "{:46} {:15} {:22} {:4} {}"
    print(line.format("finding", "then", "seen (each repeat)", "out", "what bound the slower one"))
    for each in found:
        seen = f"{each.ratio:.2f} ({', '.join(f'{ratio:.2f}' for ratio in each.ratios)})"
        print(line.format(each.name, each.then, seen, "yes" if each.comes_out else "no", each.why))
    print(f"{sum(each.comes_out for each in found)} of {len(found)} come out")


def show_answer(folder: Path) -> None:
    """What sizer recommends of each workload, and what it says of disks."""
    ended = subprocess.run([*SIZER, "recommend", str(folder)], check=False, stdout=subprocess.DEVNULL).returncode
    if ended not in (0, NoAnswer.exit_code):
        print(f"sizer recommend ended with exit status {ended}, so its answer is not shown")
        return
    answer: Any = load_json(folder / "recommendation.json")
    print("\nwhat sizer answers")
    for each in answer["workloads"]:
        spec = each.get("spec") or {}
        print(f"{each['workload']:16} {each['status']:12} {spec.get('vcpus', '-')} vCPU, disk {spec.get('disk', '-')}")
        for sentence in each["reasons"]:
            if "disk" in sentence:
                print(f"{'':16} {sentence}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2, help="of each configuration (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each run (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("/var/tmp/sizer-alibaba"), help="where (default: %(default)s)")
    parser.add_argument("--judge", action="store_true", help="measure nothing more")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
