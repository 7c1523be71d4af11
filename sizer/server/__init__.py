"""The page of a study on loopback, live: it knows of no study, only of the file that the page is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.server.live_page import LivePage, Sentences
    from sizer.server.page_server import PageServer
else:
    __getattr__ = exports(__name__, __file__)

__all__ = ["LivePage", "PageServer", "Sentences"]
