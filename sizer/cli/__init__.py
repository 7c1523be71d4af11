"""The command line: the only place that prints, exits and joins the parts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from sizer.cli.arguments import parser
from sizer.errors import InputError, SizerError

BROKEN_PIPE_STATUS = 141
"""What a shell shows for a program that SIGPIPE ended."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code; a foreseeable fault is one sentence on stderr."""
    try:
        arguments = parser().parse_args(words)
        code: int = arguments.command(arguments)
        sys.stdout.flush()
        return code
    except SizerError as error:
        print(f"sizer: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("sizer: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output is gone, such as `head`; what Python still wants to flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE_STATUS
    except OSError as error:
        print(f"sizer: {error}; see to the file or folder named there and type the command again", file=sys.stderr)
        return InputError.exit_code
