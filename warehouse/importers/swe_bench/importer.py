"""Importer of results of SWE-bench: run reports, logs of instances, submissions, the
site's leaderboards."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.base import batch_of, source_of
from warehouse.importers.common.header_values import local_time, moment
from warehouse.importers.common.json_fields import (
    Row,
    first_text,
    part_of,
    require_model,
    text_or_none,
    whole_count,
    without_nulls,
)
from warehouse.importers.common.jsonl import has_keys, head_of, nearest, read_document
from warehouse.importers.common.model_names import is_fixed_name
from warehouse.importers.swe_bench.boards import HARNESS, Board, attempts_of
from warehouse.importers.swe_bench.reports import (
    API_CALLS,
    BENCHMARK,
    METRIC,
    REPORT_LISTS,
    RESOLVED,
    Instances,
    declared_instances,
    details,
    instance_report,
    leaderboard_results,
    metadata,
    never_asked,
    predictions,
    refuse_what_is_no_list,
    run_report,
    sample_rows,
    track_fields,
)
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    PublishedScore,
    Rejection,
    RunHeader,
    SourceFiles,
)

METADATA = "metadata.json"  # of OpenHands, beside its reports
INSTANCES = ("instances.txt", "instances.json", "instances.jsonl")

#: Numbers of instances by which a run report tells its data set.
_SIZES = {500: "swe_bench_verified", 300: "swe_bench_lite", 2294: "swe_bench"}
# 20250928_trae_doubao   date and system of a submission
_SUBMISSION = re.compile(r"(?P<date>\d{8})_(?P<system>.+)")
_BOARD = re.compile(r'\{\s*"leaderboards"\s*:\s*\[')


@dataclass
class _Kinds:
    """The files of a walk by what they are."""

    boards: list[Path] = field(default_factory=list)
    reports: list[Path] = field(default_factory=list)
    # by folder of the submission
    results: dict[Path, Path] = field(default_factory=dict)
    details: dict[Path, Path] = field(default_factory=dict)
    logs: dict[Path, list[Path]] = field(default_factory=lambda: defaultdict(list))
    predictions: dict[Path, list[Path]] = field(
        default_factory=lambda: defaultdict(list)
    )
    named: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, item: Candidate) -> None:
        """Look at one file."""
        path = item.path
        head = head_of(item)
        self.named[path.parent].add(path.name)
        if path.parent.name == "results":
            inside = path.parent.parent
        else:
            inside = path.parent
        if _BOARD.match(head) and has_keys(head, "leaderboards", "folder", "resolved"):
            self.boards.append(path)
        elif has_keys(
            head, "submitted_instances", "resolved_instances", "completed_ids"
        ):
            self.reports.append(path)
        elif path.name == "report.json" and has_keys(head, "patch_is_None", "resolved"):
            self.logs[path.parent.parent].append(path)
        elif path.name == "results.json" and has_keys(
            head, "resolved", "no_generation"
        ):
            self.results[inside] = path
        elif path.name == "per_instance_details.json" and has_keys(
            head, "resolved", "api_calls"
        ):
            self.details[inside] = path
        elif has_keys(head, "instance_id", "model_name_or_path", "model_patch"):
            self.predictions[path.parent].append(path)

    def have(self, folder: Path, *names: str) -> list[Path]:
        """Files of a folder that the walk has met."""
        return [folder / name for name in names if name in self.named.get(folder, ())]


class SweBench:
    """Run reports with the logs of their instances, logs alone, submissions, the
    leaderboards of the site."""

    name = "swe_bench"
    version = "5"  # 5: the run id, run.json, metadata.json and metadata.yaml are settings, each whole
    folders = 4

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each run or submission."""
        kinds = _Kinds()
        for item in candidates:
            kinds.add(item)
        yield from map(source_of, kinds.boards)
        for report in kinds.reports:
            stems = {
                f"{folder.name}.{folder.parent.name}": folder for folder in kinds.logs
            }
            folder = stems.get(report.stem)
            logs = _with_logs(kinds, folder, kinds.logs.pop(folder)) if folder else []
            predictions = [
                path
                for path in kinds.predictions.get(report.parent, ())
                if len(kinds.predictions[report.parent]) == 1
            ]
            about = []
            if is_fixed_name(_split(report.stem, None)[0]):
                about = kinds.have(report.parent, METADATA)
            yield source_of(report, *logs, *predictions, *about)
        for folder, reports in kinds.logs.items():
            files = _with_logs(kinds, folder, reports)
            yield SourceFiles(str(folder), folder, tuple(files))
        lists = [
            folder for folder, names in kinds.named.items() if names & set(INSTANCES)
        ]
        for folder in dict.fromkeys((*kinds.details, *kinds.results)):
            main = [
                paths[folder]
                for paths in (kinds.details, kinds.results)
                if folder in paths
            ]
            above = nearest(folder, lists)
            more = [
                *kinds.have(folder, "metadata.yaml"),
                *kinds.predictions.get(folder, ())[:1],
            ]
            if above:
                more += kinds.have(above, *INSTANCES)[:1]
            yield SourceFiles(str(folder), folder, (*main, *more))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one run or submission.

        Raises:
            InputError: a file is damaged, nothing names the model, or nothing says
                which instances were not resolved.
        """
        dump = Dump((), ())
        if len(source.files) == 1 and _BOARD.match(_start(source.files[0])):
            board = Board.read(source.files[0], dump)
            dump.runs, dump.batches = tuple(board.headers), board.batches()
            return dump
        model_setting = settings.model
        given = [
            path
            for path in source.files
            if path.suffix == ".jsonl" and path.name not in INSTANCES
        ]
        for path in source.files[1:]:
            if path.suffix != ".json" or path.name in INSTANCES:
                continue
            if _start(path).startswith("["):
                given.append(path)
        patches: dict[str, str | None] = {}
        models = set()
        for path in given:
            for name, model, patch in predictions(path, dump.notes):
                patches[name] = patch
                models.add(model)
        predicted = models.pop() if len(models) == 1 else None
        if any(
            path.name in ("results.json", "per_instance_details.json")
            for path in source.files
        ):
            header, instances = _submission(
                source, patches, predicted, model_setting, dump.rejections
            )
        else:
            header, instances = _run(
                source, patches, predicted, model_setting, dump.rejections, dump.notes
            )
        dump.runs = (header,)
        rows = list(sample_rows(instances, patches))
        dump.batches = [batch_of(rows)] if rows else []
        return dump


def _with_logs(kinds: _Kinds, folder: Path, reports: Sequence[Path]) -> list[Path]:
    """The reports of the instances of a run, their patches, and the metadata of the
    run."""
    files = kinds.have(folder.parent, "run.json")
    for report in sorted(reports):
        files += [report, *kinds.have(report.parent, "patch.diff")]
    return files


def _start(path: Path) -> str:
    with path.open("rb") as handle:
        return (
            handle.read(64).removeprefix(BOM_UTF8).decode("utf-8", "replace").lstrip()
        )


# --- runs of the harness -------------------------------------------------------------------------


def _run(
    source: SourceFiles,
    patches: dict[str, str | None],
    predicted: str | None,
    model_setting: str | None,
    rejections: list[Rejection],
    notes: list[str],
) -> tuple[RunHeader, Instances]:
    first = source.files[0]
    report: Row = {}
    if first.name not in ("report.json", "run.json"):
        report = read_document(first)
    refuse_what_is_no_list(report, REPORT_LISTS, str(first))
    instances = run_report(report)
    logged = _logged(source)
    for path in logged:
        _add_log(instances, path, patches, rejections)
    about: Row = {}
    for path in source.files:
        if path.name == "run.json":
            about = read_document(path)
            break
    said = text_or_none(report.get("model_name_or_path")) or predicted
    if logged:
        folder = logged[0].parent.parent
        name, run_id = folder.name, folder.parent.name
    else:
        name, run_id = _split(first.stem, said)
    is_fixed = not logged and is_fixed_name(name)
    model = said or ("" if is_fixed else name.replace("__", "/"))
    if not model and not model_setting:
        model = _model_beside(source)
        if model:
            notes.append(
                f"{source.name}: its name is the same for every model; {model!r} "
                "stands beside or above it"
            )
    require_model(model_setting or model or None, source.name)
    total = whole_count(report.get("total_instances"))
    unasked = never_asked(report)
    if unasked:
        notes.append(
            f"{source.name}: {len(unasked)} predictions were left out "
            f"(--instance_ids): {total} instances are a part"
        )
    benchmark, split = _data_set(about, total)
    header = RunHeader(
        harness=HARNESS,
        model=model,
        benchmark=benchmark,
        split=split,
        metrics=(RESOLVED,),
        run_id=None if is_fixed else f"{run_id}/{name}",
        n_benchmark=(total or 0) + len(unasked) if unasked else total,
        n_requested=total,
        started_at=moment(about.get("created_at")),
        configuration=_configuration(source, about, "" if is_fixed else run_id),
        published=tuple(_published(report, total)),
        place=first.name,
    )
    return header, instances


def _logged(source: SourceFiles) -> list[Path]:
    """Reports of single instances; one that stands for the run comes last."""
    first = source.files[0]
    reports = [path for path in source.files if path.name == "report.json"]
    if first in reports:
        return [*(path for path in reports if path != first), first]
    return reports


# gpt-5_maxiter_100_N_v0.59.0-no-hint   a folder of OpenHands: model, limit of turns,
# version and note
_OPENHANDS = re.compile(r"(?P<model>.+?)_(?P<run>maxiter_\d+.*)")
# ...-no-hint-run_2   several runs of one experiment are numbered behind its note
_NUMBERED_RUN = re.compile(r"[-_]?run_\d+$")


def _configuration(source: SourceFiles, about: Row, run_id: str) -> Row:
    """How a run was made: its name, which a person gave, and what stands in the files
    beside the report.

    Args:
        source: the report and its files.
        about: ``run.json``; empty where there is none.
        run_id: the person's name of the run; empty where the file is called the same in
            every run.
    """
    configuration: Row
    if run_id:
        configuration = {"run_name": run_id}
    else:
        configuration = {}
    if about:
        configuration["run"] = about
    path = next((path for path in source.files if path.name == METADATA), None)
    folder = _OPENHANDS.fullmatch(source.files[0].absolute().parent.name)
    if path is not None:
        metadata = dict(read_document(path))
        note = text_or_none(metadata.get("eval_note"))
        if note is not None:
            metadata["eval_note"] = _NUMBERED_RUN.sub("", note)
        configuration["metadata"] = metadata
    elif folder is not None and not run_id:
        configuration["run_name"] = _NUMBERED_RUN.sub("", folder["run"])
    return configuration


def _model_beside(source: SourceFiles) -> str:
    """The model of a report that is called the same for every model: by the metadata of
    OpenHands beside it, else by its folder; empty where neither names one."""
    first = source.files[0]
    about = next((path for path in source.files if path.name == METADATA), None)
    document = {}
    if about:
        document = read_document(about)
    llm = part_of(document, "llm_config") or part_of(document, "llm")
    named = text_or_none(llm.get("model"))
    folder = first.absolute().parent.name
    run_folder = _OPENHANDS.fullmatch(folder)
    other = folder
    if run_folder:
        other = run_folder["model"]
    return named or ("" if is_fixed_name(other) else other.replace("__", "/"))


def _add_log(
    instances: Instances,
    path: Path,
    patches: dict[str, str | None],
    rejections: list[Rejection],
) -> None:
    """Add what the log of an instance knows: its tests, its patch, a verdict where
    there is none."""
    try:
        report = instance_report(read_document(path))
    except ValueError as error:
        rejections.append(
            Rejection(
                f"{path.parent.name}/{path.name}",
                str(error)[:300],
                "the report of an instance",
            )
        )
        return
    patch = path.with_name("patch.diff")
    for name, row in report.items():
        instance = instances.get(name, row)
        instances[name] = {
            **instance,
            "explanation": row["explanation"] or instance.get("explanation"),
        }
        if name not in patches and name == path.parent.name and patch.is_file():
            patches[name] = patch.read_text(encoding="utf-8", errors="replace")


def _split(stem: str, model: str | None) -> tuple[str, str]:
    """Model and run id of ``org__model.run``.

    Both may hold points: where the model is known the run id is all that follows it,
    else what follows the last point.
    """
    known = (model or "").replace("/", "__")
    if known and stem.startswith(f"{known}."):
        return known, stem[len(known) + 1 :]
    name, _, run_id = stem.rpartition(".")
    if name:
        return (name, run_id)
    return (stem, "")


def _data_set(about: Row, total: int | None) -> tuple[str, str]:
    dataset = first_text(about, "dataset", "dataset_name")
    if dataset:
        name = (
            dataset.rpartition("/")[2].lower().replace("-", "_").removesuffix(".json")
        )
        return name, text_or_none(about.get("split")) or ""
    if total in _SIZES:
        return (_SIZES[total], "test")
    return (BENCHMARK, "")


def _published(report: Row, total: int | None) -> Iterable[PublishedScore]:
    """The share of resolved instances among all of the data set."""
    resolved = whole_count(report.get("resolved_instances"))
    if total and resolved is not None:
        yield PublishedScore(
            METRIC, resolved / total, n=total, raw=f"{resolved} of {total}"
        )


# --- submissions ---------------------------------------------------------------------------------


def _submission(
    source: SourceFiles,
    patches: Mapping[str, str | None],
    predicted: str | None,
    model_setting: str | None,
    rejections: list[Rejection],
) -> tuple[RunHeader, Instances]:
    files = {path.name: path for path in source.files}
    listed = next(
        (declared_instances(files[name]) for name in INSTANCES if name in files), None
    )
    declared = listed if listed is not None else list(patches) or None
    main = files.get("per_instance_details.json")
    if main:
        instances = details(read_document(main), rejections, main.name)
        missing = [name for name in listed or () if name not in instances]
        instances |= {
            name: {"value": 0.0, "status": "no_answer", "origin": "implied"}
            for name in missing
        }
    else:
        main = files["results.json"]
        instances = leaderboard_results(read_document(main), declared, str(main))
    if not instances:
        raise InputError(
            "names no instance", path=str(main), expected="results of SWE-bench"
        )
    named = _SUBMISSION.fullmatch(source.root.name)
    system = named["system"] if named else source.root.name
    about, title, models = (
        metadata(files["metadata.yaml"]) if "metadata.yaml" in files else ({}, None, [])
    )
    model = (
        models[0]
        if len(models) == 1
        else predicted or title or ("" if is_fixed_name(system) else system)
    )
    require_model(model_setting or model or None, source.name)
    track = ""
    if source.root.parent.parent.name == "evaluation":
        track = source.root.parent.name
    has_calls = any("api_calls" in row for row in instances.values())
    header = RunHeader(
        harness=HARNESS,
        model=model,
        **track_fields(track),
        agent=system if model != system else None,
        metrics=(RESOLVED, API_CALLS) if has_calls else (RESOLVED,),
        run_id=source.root.name,
        started_at=local_time(named["date"], "%Y%m%d") if named else None,
        agent_parameters=attempts_of(
            text_or_none(part_of(part_of(about, "tags"), "system").get("attempts"))
        ),
        configuration=_settings_of_submission(about, title, models),
        n_benchmark=len(listed) if listed is not None else None,
        place=main.name,
    )
    return header, instances


def _settings_of_submission(
    about: Row, title: str | None, models: Sequence[str]
) -> Row:
    """Settings in ``metadata.yaml``, as the leaderboards of the site say it: the two
    are of one run."""
    tags = part_of(about, "tags")
    rest = {
        name: value for name, value in tags.items() if name not in ("model", "system")
    }
    system = {
        name: value
        for name, value in part_of(tags, "system").items()
        if name != "attempts"
    }
    several = None
    if len(models) > 1:
        several = sorted(models)
    about_run = None
    if about:
        about_run = {**about, "tags": {**rest, "system": system}}
    return without_nulls(
        {
            "submission_name": title,
            "models": several,
            "metadata": about_run,
        }
    )


IMPORTER = SweBench()
