"""What is concluded from a study's model and its runs: recommendation, table and page."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from sizer import __version__
from sizer.api.events import Conclusion, HostSeen
from sizer.api.fitted_model import OnStep, Stage, StepBegun, fitted, measured_runs, no_step, refuse_folder
from sizer.api.study_plan import asked_specs, chosen_next, searches_left, still_planned
from sizer.bundled.reports.subject import Material, Progress
from sizer.catalog.catalog import Catalog
from sizer.exchange.fleet_tables import read_amounts, read_prices
from sizer.exchange.formats import FORMATS, HandedOver, plain_name, recommendation_form
from sizer.exchange.measurements import write_tables
from sizer.files.own_folder import make_folder
from sizer.files.writing import writing_to
from sizer.model.model import Model
from sizer.model.observations import beside_others
from sizer.plan.chooser import NextRun, PlanEnd
from sizer.plan.run_order import DRIFT_SHARE, Spread, of_older_form, reference, remaining, spread
from sizer.recommend.answer import Question, case_of
from sizer.recommend.candidates import GIB_PER_VCPU
from sizer.recommend.family.choice import MAX_PENALTY, family_of
from sizer.recommend.family.fleet import Work, fleet_of, refuse_unserved
from sizer.recommend.recommendation import recommend as best_spec
from sizer.records.answer import Recommendation
from sizer.records.family import Family
from sizer.records.messages import Lines, NoAnswer, typed_path
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Objective
from sizer.store.content import is_watched
from sizer.store.study_folder import StudyFolder
from sizer.study.presets import recorded_size
from sizer.words.language import in_language, reader_language


def recommend(
    folder: StudyFolder,
    objective: Objective | None = None,
    catalog: Catalog | None = None,
    model: Model | None = None,
) -> Recommendation:
    """The recommendation by the study's own objective and the catalogue of sizer, written into the folder.

    A question other than the study's own leaves the folder as it is: another objective, the offers of another
    catalogue. `model` is the study's own where it is there already. Raises NoAnswer
    for a folder without runs.
    """
    runs = measured_runs(folder)
    model = fitted(folder) if model is None else model
    chosen, asked = chosen_next(folder, runs, model), folder.study.objective if objective is None else objective
    offers = Catalog.load(keep=True) if catalog is None else catalog
    recommendation = _best_spec(folder, model, runs, asked, offers, chosen)
    if asked == folder.study.objective and catalog is None:
        _write_recommendation(folder, recommendation, model)
    return recommendation


def family(
    folders: Sequence[StudyFolder],
    shapes: int | None = None,
    *,
    max_penalty: float = MAX_PENALTY,
    ratios: Sequence[float] | None = None,
    disks: Sequence[str] = (),
    provider: str | None = None,
    prices: str | Path | None = None,
    weights: str | Path | None = None,
    catalog: Catalog | None = None,
) -> Family:
    """The machine shapes, so many or the fewest, that serve the workloads of these studies at the least weighted cost.

    No workload pays over `max_penalty` (a share) more than on its own best shape. What can be built has `ratios` GiB
    for each vCPU and these disk tiers, by default those measured. Prices are of a file, or fitted to a provider's; spot
    prices where all studies ask for them.
    Raises InputError for a bad file or name, NoAnswer where a workload is served by no shape or so few do not do.
    """
    offers = Catalog.load(keep=True) if catalog is None else catalog
    spot = all(folder.study.objective.spot for folder in folders)
    offers = offers.at_spot_prices() if spot else offers
    places = [folder.path.resolve().name for folder in folders]
    if len(set(places)) < len(places):
        places = [str(folder.path) for folder in folders]
    pairs = [
        (place, work)
        for place, folder in zip(places, folders, strict=True)
        for work in _works(folder, offers, tuple(ratios or GIB_PER_VCPU), spot)
    ]
    counts = Counter(work.name for _, work in pairs)
    works = [work if counts[work.name] == 1 else replace(work, name=f"{place}/{work.name}") for place, work in pairs]
    fleet = fleet_of(works, offers, ratios, disks, provider if prices is None else read_prices(Path(prices)))
    refuse_unserved(fleet)
    amounts = None
    if weights is not None:
        amounts = read_amounts(Path(weights), [work.name for work in fleet.works], [work.name for work in works])
    return family_of(fleet, shapes, max_penalty, amounts)


def _works(folder: StudyFolder, catalog: Catalog, ratios: tuple[float, ...], spot: bool) -> Iterator[Work]:
    """The workloads of a study, with what their answers are chosen from."""
    runs = measured_runs(folder)
    question = Question(replace(folder.study.objective, spot=spot), catalog, ratios=ratios)
    for model in fitted(folder).workloads:
        own = [run for run in runs if run.spec.workload.name == model.name]
        yield Work(model.name, model, case_of(model, question, own))


def conclude(folder: StudyFolder, on_step: OnStep = no_step) -> Conclusion:
    """Write model, recommendation, table of measurements and report into the folder. Raises HostError."""
    from sizer.bundled.reports import page

    material = _concluded(folder, on_step)
    folder.write_text(folder.measurements_path, material.measurements_csv)
    page.write_report(folder.report_path, material, folder.write_text)
    assert material.model is not None, "a model is what a page of a study shows"
    assert material.recommendation is not None, "and what follows from it"
    seen, problems = host_seen(folder, material.runs), folder.problems()
    return Conclusion(material.model, material.recommendation, seen, problems, folder.report_path)


def write_report(folder: StudyFolder, path: str | Path | None = None, language: str | None = None) -> Path:
    """Write the report of a study to `path`, by default into its folder, in English (`en`) or Chinese (`zh`).

    By default it is in the language that `sizer.words` speaks. Raises InputError, HostError.
    """
    from sizer.bundled.reports import page

    target = folder.report_path if path is None else Path(path)
    refuse_folder(target)
    material = _concluded(folder)
    with in_language(reader_language() if language is None else language):
        page.write_report(target, material, folder.write_text)
    return target


def write_each(folder: StudyFolder, path: str | Path, form: str = "html", language: str | None = None) -> list[Path]:
    """Write a file for each workload into the folder at `path`, which is made where there is none: a page of it alone
    (`html`), or a form of `sizer.exchange.formats`. A workload for which that has nothing gets no file.

    Raises InputError, HostError, and NoAnswer where none gets one.
    """
    from sizer.bundled.reports import page

    material, day, target, used = _concluded(folder), last_day(folder), Path(path), set[str]()
    texts: dict[Path, str] = {}
    refused: list[NoAnswer] = []
    with in_language(reader_language() if language is None else language):
        for plan in folder.study.workloads:
            own, name = material.of_workload(plan.workload.name), plain_name(plan.workload.name, used, "-")
            if form == "html":
                table, rows = write_tables(own.runs)
                own = replace(own, measurements_csv=table, measurements_json=rows)
                texts[target / f"{name}.html"] = page.render(own)
            elif own.recommendation is not None and own.model is not None:
                ending, written = FORMATS[form]
                try:
                    given = HandedOver(own.recommendation, own.model, own.study, day)
                    texts[target / f"{name}.{ending}"] = written(given)
                except NoAnswer as error:
                    refused.append(error)
    if not texts:
        raise NoAnswer(Lines(*refused))
    with writing_to(target):
        make_folder(target)
    for file, text in texts.items():
        folder.write_text(file, text)
    return list(texts)


def last_day(folder: StudyFolder) -> str | None:
    """Of the last run that says when it began."""
    return max((run.started_at[:10] for run in folder.runs() if run.started_at), default=None)


def _best_spec(
    folder: StudyFolder,
    model: Model,
    runs: Sequence[Run],
    objective: Objective,
    catalog: Catalog,
    chosen: NextRun | PlanEnd | None,
) -> Recommendation:
    """With what only the folder knows: the host that measured, how far searches were to go, and what is planned."""
    cpus = folder.host.get("cpus")  # not known of measurements made elsewhere
    return best_spec(
        model,
        runs,
        objective,
        catalog,
        host_vcpus=float(cpus) if isinstance(cpus, (int, float)) and cpus > 0 else None,
        most_batches={workload.workload.name: workload.most_batch for workload in folder.study.workloads},
        still_planned=still_planned(folder, runs, chosen),
    )


def _write_recommendation(folder: StudyFolder, recommendation: Recommendation, model: Model) -> None:
    refuse_folder(folder.recommendation_path)
    folder.write_json(folder.recommendation_path, recommendation_form(recommendation, model))


def _concluded(folder: StudyFolder, on_step: OnStep = no_step) -> Material:
    """What a page shows; the model and the recommendation are written into the folder."""
    model, runs = fitted(folder, on_step), folder.runs()
    on_step(StepBegun(Stage.RECOMMENDING))
    chosen = chosen_next(folder, runs, model)
    recommendation = _best_spec(folder, model, runs, folder.study.objective, Catalog.load(keep=True), chosen)
    _write_recommendation(folder, recommendation, model)
    on_step(StepBegun(Stage.REPORTING))
    table, form = write_tables(runs)
    return Material(
        study=folder.study,
        host=folder.host,
        runs=runs,
        model=model,
        recommendation=recommendation,
        # The last check of each tier.
        disk_checks=tuple({run.disk.tier.name: run.disk for run in runs if run.disk is not None}.values()),
        notes=folder.notes,
        drift=_drift(folder, runs),
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        version=__version__,
        measurements_csv=table,
        measurements_json=form,
        folder=typed_path(folder.path),
        progress=_progress(folder, runs, chosen),
    )


def _progress(folder: StudyFolder, runs: tuple[Run, ...], chosen: NextRun | PlanEnd | None) -> Progress | None:
    """How many of the planned runs are there, and how many others; None for measurements made elsewhere, which nobody
    planned."""
    if folder.study.imported:
        return None
    specs = asked_specs(folder, {run.id for run in runs})
    planned = Counter(spec.workload.name for spec in specs)
    older = Counter(run.spec.workload.name for run in of_older_form(specs, runs))
    finished = planned - Counter(spec.workload.name for spec in remaining(specs, runs))
    return Progress(planned, finished, older, chosen, searches_left(folder, specs, runs, chosen))


def host_seen(folder: StudyFolder, runs: Sequence[Run] | None = None) -> HostSeen:
    """What the runs of a folder, if none are given all of them, say of the host."""
    completed = [run for run in (folder.runs() if runs is None else runs) if run.outcome is Outcome.COMPLETED]
    return HostSeen(_drift(folder, tuple(completed)), sum(map(beside_others, completed)), len(completed))


def _drift(folder: StudyFolder, runs: tuple[Run, ...]) -> Spread | None:
    """How far the host drifted, as the reference configuration shows; None where it did not."""
    drift = spread(runs, reference(folder.study, recorded_size(folder.host)))
    return None if drift is None or drift.share <= DRIFT_SHARE else drift


PAUSE = 10.0
"""How many times as long as the last page took there is no other one: pages take a tenth of the time at most."""


class WatchedPage:
    """Writes the page again where somebody looks at it, there are newer runs, and the last one is some time ago."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._not_before = float("-inf")

    def write_if_due(self, folder: StudyFolder, anew: bool = False) -> None:
        """With `anew` also where there are no newer runs. Raises SizerError where the page cannot be written."""
        began = self._clock()
        if began < self._not_before or not is_watched(folder.path):
            return
        if not (anew or folder.is_stale(folder.report_path)) or not folder.runs():
            return
        try:
            write_report(folder)
        finally:
            ended = self._clock()
            self._not_before = ended + PAUSE * (ended - began)
