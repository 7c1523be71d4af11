"""A study folder that survives whatever happens to its writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.store.content import FOLDERS, refuse_what_leads_elsewhere
    from sizer.store.continuing import measured, refuse_other_meaning, refuse_other_study
    from sizer.store.fitted_file import read_fitted, sources_of, write_fitted
    from sizer.store.stored_runs import read_run, run_from_json
    from sizer.store.study_folder import (
        StudyFolder,
        current_run,
        is_held,
        refuse_unusable,
    )
    from sizer.store.unsaved import keep_unsaved, take_back, unsaved_folder
    from sizer.store.watched import WATCHED_SECONDS, is_watched, mark_watched, unmark_watched
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "FOLDERS",
    "WATCHED_SECONDS",
    "StudyFolder",
    "current_run",
    "is_held",
    "is_watched",
    "keep_unsaved",
    "mark_watched",
    "measured",
    "read_fitted",
    "read_run",
    "refuse_other_meaning",
    "refuse_other_study",
    "refuse_unusable",
    "refuse_what_leads_elsewhere",
    "run_from_json",
    "sources_of",
    "take_back",
    "unmark_watched",
    "unsaved_folder",
    "write_fitted",
]
