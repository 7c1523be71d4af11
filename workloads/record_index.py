"""The index of a RecordIO file that has none: `python -m workloads.record_index --data FILE.rec --out FILE.idx`."""

from __future__ import annotations

from pathlib import Path

from .data_sets import recordio
from .faults import InputFault, run_program
from .options import OneSentenceParser
from .progress import counted


def main() -> None:
    """Write the index, one line a record: its number and its offset in bytes."""
    parser = OneSentenceParser(prog=f"python -m {__package__}.record_index", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE.rec")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.idx")
    given = parser.parse_args()
    if not given.data.is_file():
        raise InputFault(f"there is no file {given.data}, so give --data the path of a .rec file")
    records = recordio.write_index(given.data, given.out)
    print(f"indexed {counted(records, 'record')} of {given.data}")


if __name__ == "__main__":
    raise SystemExit(run_program("record_index", main))
