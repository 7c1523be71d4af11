"""What sizer does, for a program or a notebook: measure a study, fit, predict, recommend, write the report.

Nothing here prints or exits: what happens is handed to a callback, and what cannot be done is raised as a SizerError.
"""

from __future__ import annotations

from sizer.analysis import Live
from sizer.api.conclusions import Conclusion, fit, open_study, recommend, write_report
from sizer.api.demonstration import DEMO_FIO, demo_study
from sizer.api.events import (
    Concluded,
    DataLacking,
    DiskChecked,
    DiskChecking,
    DiskUnusable,
    Doubted,
    Event,
    FollowingEnded,
    HostBusy,
    MeasuringStarted,
    NotConcluded,
    NothingLeft,
    OnEvent,
    RunFinished,
    RunsLeft,
    RunsTakenBack,
    RunStarted,
    TableImported,
    TableRead,
)
from sizer.api.importing import ImportedStudy, import_table
from sizer.api.measuring import Measurement, continued, measure, measurement
from sizer.api.measuring_host import MeasuringHost, this_host
from sizer.api.preconditions import check_preconditions, doubts
from sizer.api.predicting import configuration, predict, predict_at, usual_disk, workload_of
from sizer.api.status import StudyStatus, study_status
from sizer.api.studies import parse_study, read_study
from sizer.api.study_plan import StudyPlan, plan_study
from sizer.storage import Announcement, Leftover

__all__ = [
    "DEMO_FIO",
    "Announcement",
    "Concluded",
    "Conclusion",
    "DataLacking",
    "DiskChecked",
    "DiskChecking",
    "DiskUnusable",
    "Doubted",
    "Event",
    "FollowingEnded",
    "HostBusy",
    "ImportedStudy",
    "Leftover",
    "Live",
    "Measurement",
    "MeasuringHost",
    "MeasuringStarted",
    "NotConcluded",
    "NothingLeft",
    "OnEvent",
    "RunFinished",
    "RunStarted",
    "RunsLeft",
    "RunsTakenBack",
    "StudyPlan",
    "StudyStatus",
    "TableImported",
    "TableRead",
    "check_preconditions",
    "configuration",
    "continued",
    "demo_study",
    "doubts",
    "fit",
    "import_table",
    "measure",
    "measurement",
    "open_study",
    "parse_study",
    "plan_study",
    "predict",
    "predict_at",
    "read_study",
    "recommend",
    "study_status",
    "this_host",
    "usual_disk",
    "workload_of",
    "write_report",
]
