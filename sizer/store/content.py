"""What lies in a study folder."""

from __future__ import annotations

import os
from pathlib import Path

from sizer.files.own_folder import check_content, check_folder
from sizer.store.watched import WATCHED

FOLDERS = ("runs", "logs")
FILES = (
    *(".lock", WATCHED, "study.yaml", "host.json", "model.json", "recommendation.json"),
    *("measurements.csv", "report.html"),
)
"""All that sizer reads and writes in a study folder, beside what lies in its folders."""


def refuse_what_leads_elsewhere(path: Path) -> None:
    """Raise InputError where the folder, or what is read or written in it, is a link, a pipe or another user's."""
    if os.path.lexists(path):
        check_folder(path)
        check_content(path, FOLDERS, FILES)
