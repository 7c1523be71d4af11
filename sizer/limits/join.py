"""The command line that puts a process where it belongs before it becomes the program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sizer.limits.topology import format_cpus

JOIN_FAILED = 125
"""Exit status of a process that could not join its group; what `timeout` and `docker run` use for their own faults."""

OOM_SCORE = 500
"""Added to the badness of a run's processes, in thousandths of the memory there is (proc(5), oom_score_adj): when the
host itself runs out, the kernel kills the run, which is data, and not sizer. Anybody may raise it."""

# The shell writes its own pid and then execs, so the program is in the group from its first instruction, keeps the pid,
# and needs no preexec_fn, which is unsafe in a process with threads (Python's subprocess documentation).
_SCRIPT = f"""
report=$1
fail() {{ echo "sizer: the run could not join $1; type sizer doctor to see what this host allows" >&2
[ -z "$report" ] || echo "$1" >"$report"
exit {JOIN_FAILED}; }}
shift
{{ read -r score </proc/self/oom_score_adj && [ "$score" -ge {OOM_SCORE} ] ||
echo {OOM_SCORE} >/proc/self/oom_score_adj; }} 2>/dev/null
[ -z "$1" ] || taskset -p -c "$1" $$ >/dev/null || fail "CPUs $1"
shift
while [ "$1" != -- ]; do echo $$ > "$1" || fail "$1"; shift; done
shift
exec "$@"
"""


def join_command(
    argv: Sequence[str], files: Sequence[Path] = (), affinity: Sequence[int] = (), report: int | None = None
) -> list[str]:
    """`argv` behind a shell that first takes the CPUs of `affinity` and writes its pid into each of `files`.

    Where it cannot, it writes into our descriptor `report`, which it does not inherit, and ends with JOIN_FAILED. The
    kernel's killer for memory prefers it to sizer.
    """
    outlet = "" if report is None else f"/proc/{os.getpid()}/fd/{report}"
    return ["/bin/sh", "-c", _SCRIPT, "sizer", outlet, format_cpus(affinity), *map(str, files), "--", *argv]
