"""Pure: Model x catalogue x Objective -> Recommendation, with the reasons and the rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.recommend.accelerators import EMULATED
    from sizer.recommend.candidates import SOLD_VCPUS
    from sizer.recommend.cross_table import CPU_OF, MOST_COLUMNS
    from sizer.recommend.disks import most_by_disk
    from sizer.recommend.gates import GateResult, check_gate, read_gate
    from sizer.recommend.instead import LEAST_GAIN, Change, ChangeKind, changes, disk_gain, judged_by
    from sizer.recommend.quality import DOUBTS, MISTOLD, rates_mistold
    from sizer.recommend.recommendation import recommend
    from sizer.recommend.rentable_machines import is_computed_by_cpu, rentable
    from sizer.recommend.sizes import memory_varied, sizes_on_curve
    from sizer.recommend.still_planned import StillPlanned, as_planned
    from sizer.recommend.table import ALIKE, SURE, Row, Table, table_of_sizes, weighed_after
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "ALIKE",
    "CPU_OF",
    "DOUBTS",
    "EMULATED",
    "LEAST_GAIN",
    "MISTOLD",
    "MOST_COLUMNS",
    "SOLD_VCPUS",
    "SURE",
    "Change",
    "ChangeKind",
    "GateResult",
    "Row",
    "StillPlanned",
    "Table",
    "as_planned",
    "changes",
    "check_gate",
    "disk_gain",
    "is_computed_by_cpu",
    "judged_by",
    "memory_varied",
    "most_by_disk",
    "rates_mistold",
    "read_gate",
    "recommend",
    "rentable",
    "sizes_on_curve",
    "table_of_sizes",
    "weighed_after",
]
