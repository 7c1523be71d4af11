"""The command line: the only place that prints, exits and joins the parts."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from sizer.cli.arguments import parser
from sizer.cli.language import readers_language
from sizer.cli.printing import escaped, in_words, sentence, unforeseen
from sizer.records.messages import InputError, Message, SizerError

BROKEN_PIPE_STATUS = 141
"""What a shell shows for a program that SIGPIPE ended."""

RARELY = 20_000
"""Objects more than before at which Python looks for circles among them. At its own 700 it looks through all that a
command has imported and read, again and again, and finds next to none."""

SEARCHED = frozenset({"PATH", "LD_LIBRARY_PATH"})
"""Variables with folders that are searched for programs and libraries."""


@escaped()
def main(words: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code; whatever goes wrong is one sentence on stderr."""
    gc.set_threshold(RARELY)
    _search_in_no_relative_folder()
    with readers_language(os.environ):
        return _ended(words)


def _ended(words: Sequence[str] | None) -> int:
    try:
        arguments = parser().parse_args(words)
        code: int = arguments.command(arguments)
        sys.stdout.flush()
        return code
    except SizerError as error:
        print(f"sizer: {sentence(error)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        text = in_words(Message("interrupted"))
        print(f"sizer: {text}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output is gone, such as `head`; what Python still wants to flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE_STATUS
    except OSError as error:
        print(f"sizer: {_what_failed(error)}", file=sys.stderr)
        return InputError.exit_code
    except Exception as error:
        print(f"sizer: {unforeseen(error)}", file=sys.stderr)
        return SizerError.exit_code


def _what_failed(error: OSError) -> str:
    """The sentence about the file that the system names; it names none for what is printed."""
    if error.filename is None:
        return in_words(
            Message(
                "The system refused ({reason}); check where the output goes, then type the command again.",
                reason=error.strerror or error,
            )
        )
    return in_words(Message("{error}; check the file or folder named there, then type the command again.", error=error))


def _search_in_no_relative_folder() -> None:
    """Programs and libraries are never taken from the folder one is in, or a run's, which may be a stranger's.

    A PATH that ends with a colon says so by accident, and libraries of Python start programs, too: numpy.testing 1.26
    starts lscpu as it is imported.
    """
    for name in SEARCHED & os.environ.keys():
        entries = os.environ[name].split(os.pathsep)
        os.environ[name] = os.pathsep.join(entry for entry in entries if os.path.isabs(entry))
