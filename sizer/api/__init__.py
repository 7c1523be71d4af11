"""What sizer does, for a program or a notebook: measure a study, fit, predict, recommend, write the report.

Nothing here prints or exits: what happens is handed to a callback, and what cannot be done is raised as a SizerError.
Three modules are part of it: `events` has what a callback hears, `predicting` the steps of `predict` one by one, and
`demonstration` the study of the demo.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sizer.api import demonstration, events, predicting
    from sizer.api.comparing import compare_studies, write_comparison
    from sizer.api.conclusions import WatchedPage, family, host_seen, last_day, recommend, write_each, write_report
    from sizer.api.fitted_model import FittedStudy, fit, fitted_study, open_study, stored_study
    from sizer.api.importing import ImportedStudy, import_table
    from sizer.api.measuring import Measurement, continued, measure, measurement
    from sizer.api.predicting import predict
    from sizer.api.profiling import Profile, ProfileMeasurement, profile, profile_measurement, profile_of
    from sizer.api.status import StudyStatus, study_status
    from sizer.api.studies import MeasuringHost, StudyPlan, parse_study, plan_study, read_study, this_host
    from sizer.model.model import WhatIf
    from sizer.records.messages import HostError, InputError, NoAnswer, SizerError
    from sizer.study.own_job import OwnJob

_MODULES = {
    "sizer.api.comparing": ["compare_studies", "write_comparison"],
    "sizer.api.conclusions": [
        *("WatchedPage", "family", "host_seen", "last_day", "recommend", "write_each", "write_report"),
    ],
    "sizer.api.fitted_model": ["FittedStudy", "fit", "fitted_study", "open_study", "stored_study"],
    "sizer.api.importing": ["ImportedStudy", "import_table"],
    "sizer.api.measuring": ["Measurement", "continued", "measure", "measurement"],
    "sizer.api.predicting": ["predict"],
    "sizer.api.profiling": ["Profile", "ProfileMeasurement", "profile", "profile_measurement", "profile_of"],
    "sizer.api.status": ["StudyStatus", "study_status"],
    "sizer.api.studies": ["MeasuringHost", "StudyPlan", "parse_study", "plan_study", "read_study", "this_host"],
    "sizer.model.model": ["WhatIf"],
    "sizer.records.messages": ["HostError", "InputError", "NoAnswer", "SizerError"],
    "sizer.study.own_job": ["OwnJob"],
}
"""Where each name is: a command imports what it needs and no more (PEP 562)."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in ("demonstration", "events", "predicting"):
            return import_module(f"sizer.api.{name}")
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(module), name)
        raise AttributeError(f"module 'sizer.api' has no attribute {name!r}")


__all__ = [
    "FittedStudy",
    "HostError",
    "ImportedStudy",
    "InputError",
    "Measurement",
    "MeasuringHost",
    "NoAnswer",
    "OwnJob",
    "Profile",
    "ProfileMeasurement",
    "SizerError",
    "StudyPlan",
    "StudyStatus",
    "WatchedPage",
    "WhatIf",
    "compare_studies",
    "continued",
    "demonstration",
    "events",
    "family",
    "fit",
    "fitted_study",
    "host_seen",
    "import_table",
    "last_day",
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
    "write_comparison",
    "write_each",
    "write_report",
]
