"""What sizer does, for a program or a notebook: measure a study, fit, predict, recommend, write the report.

Nothing here prints or exits: what happens is handed to a callback, and what cannot be done is raised as a SizerError.
Three modules are part of it: `events` has what a callback hears, `predicting` the steps of `predict` one by one, and
`demonstration` the study of the demo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.api import demonstration, events, predicting
    from sizer.api.conclusions import host_seen, recommend, write_report
    from sizer.api.fitted_model import FittedStudy, fit, fitted_study, open_study, stored_study
    from sizer.api.importing import ImportedStudy, import_table
    from sizer.api.measuring import Measurement, continued, measure, measurement
    from sizer.api.measuring_host import MeasuringHost, this_host
    from sizer.api.predicting import predict
    from sizer.api.profiling import Profile, ProfileMeasurement, profile, profile_measurement, profile_of
    from sizer.api.status import StudyStatus, study_status
    from sizer.api.studies import parse_study, read_study
    from sizer.api.study_plan import StudyPlan, plan_study
    from sizer.api.watched_page import WatchedPage
    from sizer.study.own_job import OwnJob
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "FittedStudy",
    "ImportedStudy",
    "Measurement",
    "MeasuringHost",
    "OwnJob",
    "Profile",
    "ProfileMeasurement",
    "StudyPlan",
    "StudyStatus",
    "WatchedPage",
    "continued",
    "demonstration",
    "events",
    "fit",
    "fitted_study",
    "host_seen",
    "import_table",
    "measure",
    "measurement",
    "open_study",
    "parse_study",
    "plan_study",
    "predict",
    "predicting",
    "profile",
    "profile_measurement",
    "profile_of",
    "read_study",
    "recommend",
    "stored_study",
    "study_status",
    "this_host",
    "write_report",
]
