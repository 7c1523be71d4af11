"""What the lines of a log tell, of known formats and by a user's own expression. Pure."""

from __future__ import annotations

from sizer.analysis.log_lines.content import LogContent, ReadLine, read_log
from sizer.analysis.log_lines.reading import LARGEST, LogReading
from sizer.analysis.log_lines.recognising import LINE_LIMIT, TERMINAL, LogLines, Told

__all__ = [
    "LARGEST",
    "LINE_LIMIT",
    "TERMINAL",
    "LogContent",
    "LogLines",
    "LogReading",
    "ReadLine",
    "Told",
    "read_log",
]
