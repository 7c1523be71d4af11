"""Pure: what a child wrote and what was counted become a Run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.analysis.absence import is_absent
    from sizer.analysis.accounting import other_cores, stolen_cores
    from sizer.analysis.deadline import reading_seconds
    from sizer.analysis.epochs import measured_from_epoch
    from sizer.analysis.events import ChildEvent, EventError, EventReader, Start
    from sizer.analysis.log_lines import LogContent, LogReading, ReadLine, read_log
    from sizer.analysis.log_rates import PATTERN_SECONDS, LogRates
    from sizer.analysis.monitor import STEP_UNIT, Live, RunMonitor
    from sizer.analysis.ranks import RankReader, Told
    from sizer.analysis.record import ChildResult, run_record
    from sizer.analysis.run_warnings import CONTENDED_CORES, STOLEN_CORES
    from sizer.analysis.stopping import Stop
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "CONTENDED_CORES",
    "PATTERN_SECONDS",
    "STEP_UNIT",
    "STOLEN_CORES",
    "ChildEvent",
    "ChildResult",
    "EventError",
    "EventReader",
    "Live",
    "LogContent",
    "LogRates",
    "LogReading",
    "RankReader",
    "ReadLine",
    "RunMonitor",
    "Start",
    "Stop",
    "Told",
    "is_absent",
    "measured_from_epoch",
    "other_cores",
    "read_log",
    "reading_seconds",
    "run_record",
    "stolen_cores",
]
