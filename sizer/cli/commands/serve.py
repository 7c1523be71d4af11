"""serve: the page of a study while it is measured.

To import what draws a page takes a second of CPU time, and to draw it several, which a run that goes on would be
marked for as contended. So nothing of that is imported here before the page is drawn, and it is drawn here only where
no sizer measures on this host; where one does, that one writes the page between two runs, as long as somebody looks.
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sizer.bundled.reports.policy import page_policy
from sizer.bundled.reports.server.live_page import LivePage, Sentences
from sizer.bundled.reports.server.page_server import PageServer
from sizer.cli.arguments import _, add_folder, option, whole
from sizer.cli.language import ENGLISH, asked_language
from sizer.cli.printing import in_words, sentence
from sizer.host.lock import is_host_measured
from sizer.records.messages import HostError, Message, SizerError
from sizer.store.content import MARK_SECONDS, mark_watched, unmark_watched
from sizer.store.study_folder import StudyFolder, is_held

if TYPE_CHECKING:
    from sizer.api import WatchedPage

LOOKING_SECONDS = 10.0
"""Since the page was last asked for, in which somebody looks at it: it asks by itself every other second."""

MARKING_SECONDS = MARK_SECONDS / 3
"""Between two marks in the folder: rarely, as its disk may be the one that is measured."""

PAUSE_SECONDS = 1.0

NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _(
        "Show the report in a browser, and every newer one while the study is measured: whoever measures writes it "
        "between two runs, as long as somebody looks. It is served on this host alone, at the address that is printed, "
        "to whoever knows the token in it; Ctrl-C ends it."
    )
    parser.epilog = _(
        "From another host: `sizer serve DIR --port 8765` here, `ssh -L 8765:127.0.0.1:8765 THIS_HOST` there, with the "
        "same port on both sides, then open the address there. A browser on the host that measures takes CPU time from "
        "the runs."
    )
    add_folder(parser)
    option(
        parser,
        "--port",
        _("the port on 127.0.0.1; default: any that is free"),
        whole(Message("a port"), 65_535, "8765"),
        default=0,
        metavar="N",
    )


def run(arguments: argparse.Namespace) -> int:
    folder = StudyFolder.open(Path(arguments.folder))
    page = LivePage(folder.report_path, _sentences(), page_policy)
    # Ctrl-C ends it also where a script has started it in the background, and so does what ends it from outside.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with PageServer(page.now, arguments.port) as server:
        print(server.address, flush=True)
        live = Message(
            "This page of {folder} is live until Ctrl-C, for this host alone. From another host: "
            "ssh -L {port}:127.0.0.1:{port} THIS_HOST, then open the same address there.",
            folder=folder.path,
            port=server.port,
        )
        print(in_words(live), file=sys.stderr, flush=True)
        try:
            _Keeper(folder, page).keep()
        finally:
            unmark_watched(folder.path)
    return 0


class _Keeper:
    """Sees to it that whoever looks at the page sees the newest runs."""

    def __init__(self, folder: StudyFolder, page: LivePage) -> None:
        self._folder = folder
        self._page = page
        self._drawn: WatchedPage | None = None
        self._marked = float("-inf")
        self._last_error = ""

    def keep(self) -> None:
        """Until it is interrupted."""
        while True:
            time.sleep(PAUSE_SECONDS)
            if not self._page.is_watched(LOOKING_SECONDS):
                continue
            try:
                self._mark()
                self.draw()
            except SizerError as error:
                if sentence(error) != self._last_error:
                    self._last_error = sentence(error)
                    print(f"sizer: {self._last_error}", file=sys.stderr, flush=True)

    def _mark(self) -> None:
        """Say in the folder that somebody looks. Raises HostError where the page waits in vain."""
        if time.monotonic() - self._marked <= MARKING_SECONDS:
            return
        self._marked = time.monotonic()
        try:
            mark_watched(self._folder.path)
        except OSError as error:
            if error.errno in NOT_WRITABLE and self._page.is_awaited():
                raise HostError(
                    "The page cannot be drawn, as {folder} cannot be written ({reason}); serve a copy of the folder: "
                    "cp -r {folder} COPY && sizer serve COPY",
                    folder=self._folder.path,
                    reason=error.strerror or error,
                ) from error

    def draw(self) -> None:
        """Write the page where nobody measures. Raises SizerError."""
        folder, awaited = self._folder, self._page.is_awaited()
        stale = awaited or folder.is_stale(folder.report_path)
        if not stale or is_host_measured() or is_held(folder):
            return
        if self._drawn is None:
            from sizer.api import WatchedPage

            self._drawn = WatchedPage()
        # Opened again, as the study itself may have changed since.
        self._drawn.write_if_due(StudyFolder.open(folder.path), anew=awaited)


def _sentences() -> Sentences:
    return Sentences(
        waiting=in_words(
            Message(
                "The page of this study is not drawn yet. It comes by itself: in a few seconds, or, while a study is "
                "measured on this host, once a run is finished."
            )
        ),
        changed=in_words(Message("There are new runs.")),
        take=in_words(Message("Show them")),
        gone=in_words(Message("The server of this page has ended; the page stays as it is.")),
        language=asked_language(os.environ) or ENGLISH,
    )
