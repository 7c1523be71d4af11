"""The page of a study on loopback, live: it knows of no study, only of the file that the page is."""

from __future__ import annotations

from sizer.server.live_page import LivePage, Sentences
from sizer.server.page_server import PageServer

__all__ = ["LivePage", "PageServer", "Sentences"]
