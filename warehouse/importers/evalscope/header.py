"""Run headers of EvalScope: one for each subset of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.header_values import fingerprint_of, local_time, unix_time
from warehouse.importers.common.json_fields import (
    Row,
    endpoint_host,
    is_local,
    number_or_none,
    other_sampling,
    part_of,
    published_figure,
    sampling_fields,
    text_or_none,
    whole_count,
)
from warehouse.importers.evalscope.report import Figure, Report, range_of, row_name
from warehouse.importers.evalscope.rows import SubsetFiles
from warehouse.records import MetricSpec, PublishedScore, RunHeader, SourceFiles, parse_json

HARNESS = "evalscope"
#: Names of subsets that say no more than that the benchmark has no other.
_WHOLE = ("default", "main")
#: Settings of the client, which change nothing of what is generated.
_OF_THE_CLIENT = frozenset(("batch_size", "stream", "timeout", "retries", "retry_interval", "seed"))
_KEPT = ("limit", "repeats", "seed", "eval_type", "eval_backend", "ignore_errors", "judge", "sandbox_type")


def headers(
    source: SourceFiles, report: Report, config: Mapping[str, Any], subsets: Sequence[SubsetFiles]
) -> Iterator[RunHeader]:
    """The runs: subsets with rows in their order, then those that the report alone tells of."""
    settings = _typed(config)
    named = [figure.subset for figure in report.figures() if figure.subset is not None and not figure.is_derived]
    first = source.files[0]
    dataset = report.dataset or (first.stem if not subsets else subsets[0].benchmark)
    shared = _shared(first, source.root, report, settings, dataset, subsets)
    for subset in subsets:
        yield _header(shared, report, dataset, subset.subset, subset)
    for name in dict.fromkeys(named):
        if name not in {subset.subset for subset in subsets}:
            yield _header(shared, report, dataset, name, None)


def group_figures(report: Report, runs: Sequence[RunHeader], has_rows: bool) -> Iterator[PublishedScore]:
    """Figures of the benchmark as a whole, where it is more than one run."""
    if not any(run.suite for run in runs):
        return
    names = {metric.name: None for run in runs for metric in run.metrics}
    repeats = whole_count(runs[0].configuration.get("repeats")) or 1
    for figure in report.figures():
        if figure.subset is None or figure.is_derived:
            statistic = report.statistic_of(figure, repeats) if has_rows else figure.statistic
            statistic = statistic if figure.subset is None else f"{statistic} of {figure.subset}"
            metric = row_name(figure.metric, names)
            yield published_figure(
                metric, figure.value, benchmark=report.dataset, statistic=statistic, n=_prompts(figure, repeats)
            )


def _prompts(figure: Figure, repeats: int) -> int | None:
    """Prompts behind a figure: of means, ``num`` counts every repeat, also those that others lack."""
    return figure.n if repeats == 1 else None


def leaf(dataset: str, subset: str) -> str:
    """The benchmark that a subset is."""
    return dataset if subset in _WHOLE or not subset else f"{dataset}_{subset}"


def _shared(
    first: Path, root: Path, report: Report, settings: Row, dataset: str, subsets: Sequence[SubsetFiles]
) -> dict[str, Any]:
    """What the runs of all subsets have in common."""
    folder = first.parent.name
    named = text_or_none(settings.get("model"))
    model = named if named and not is_local(named) else (report.model or folder)
    arguments = part_of(part_of(settings, "dataset_args"), dataset)
    arguments |= part_of(part_of(settings, "resolved_benchmarks"), dataset)
    generation = part_of(settings, "generation_config")
    revision = text_or_none(part_of(settings, "model_args").get("revision"))
    is_old = any(subset.is_old for subset in subsets) or (not subsets and not report.is_new)
    identity = part_of(part_of(part_of(settings, "evaluation_identity"), "benchmarks"), dataset)
    created = [subset.created for subset in subsets if subset.created is not None]
    stamp = local_time(root.name, "%Y%m%d_%H%M%S")
    return {
        "harness": HARNESS,
        "harness_version": text_or_none(settings.get("evalscope_version")),
        "model": model,
        "revision": None if revision in ("master", "main") else revision,
        "step": infer_step(revision, named, folder),
        "split": text_or_none(arguments.get("eval_split")) or "",
        # 0.x counts instructions, 1.x averages their shares; prompts and parsers changed as well
        "task_version": text_or_none(identity.get("evaluation_version")) or ("0.x" if is_old else "1.x"),
        "fewshot": whole_count(arguments.get("few_shot_num")),
        "template_hash": fingerprint_of(
            prompt_template=text_or_none(arguments.get("prompt_template")),
            few_shot=text_or_none(arguments.get("few_shot_prompt_template")),
        ),
        "system_prompt_hash": fingerprint_of(system_prompt=text_or_none(arguments.get("system_prompt"))),
        **sampling_fields(generation),
        "sampling": {key: item for key, item in other_sampling(generation).items() if key not in _OF_THE_CLIENT},
        "sampling_seed": whole_count(generation.get("seed")),
        "endpoint": endpoint_host(settings.get("api_url")),
        "run_id": root.name if stamp else None,
        "started_at": unix_time(min(created)) if created else stamp,
        "configuration": {key: settings[key] for key in _KEPT if settings.get(key) is not None},
    }


def _header(
    shared: Mapping[str, Any], report: Report, dataset: str, subset: str, files: SubsetFiles | None
) -> RunHeader:
    names = files.metrics if files else {}
    repeats = whole_count(shared["configuration"].get("repeats")) or 1
    single = next(iter(names), None) if len(names) == 1 and len(report.names) == 1 else None
    if files and single is not None and files.unnamed:
        files.unnamed = single = next(iter(report.names))
    published = []
    for figure in report.figures():
        if figure.subset == subset and not figure.is_derived:
            metric = single if single and files and files.unnamed else row_name(figure.metric, names)
            published.append(
                published_figure(
                    metric,
                    figure.value,
                    statistic=report.statistic_of(figure, repeats) if files else figure.statistic,
                    n=_prompts(figure, repeats) if not files or files.tells_draws else None,
                )
            )
    order = dict.fromkeys([row_name(name, names) for name in report.names])
    found = [single] if files and files.unnamed and single else [*order, *(name for name in names if name not in order)]
    requested = report.requested(subset)
    return RunHeader(
        **shared,
        benchmark=leaf(dataset, subset),
        suite=(dataset,) if leaf(dataset, subset) != dataset else (),
        metrics=tuple(
            MetricSpec(name, **range_of(_reported(report, name, names), name), is_default=index == 0)
            for index, name in enumerate(found)
        ),
        n_requested=None if requested is None else -(-requested // repeats),
        published=tuple(published),
        place=f"{dataset}_{subset}",
    )


def _reported(report: Report, name: str, names: Mapping[str, Any]) -> Row:
    """What the report says of a metric of the rows."""
    return next((item for key, item in report.names.items() if row_name(key, names) == name), {})


def _typed(value: Any) -> Any:
    """Settings with numbers, truth values and nulls as such: YAML is read as text."""
    if isinstance(value, Mapping):
        return {str(key): _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if value in ("", "~"):
        return None
    if not isinstance(value, str) or len(value) > 40:
        return value
    try:
        parsed = parse_json(value.encode())
    except ValueError:
        return value
    return parsed if parsed is None or isinstance(parsed, bool) or number_or_none(parsed) is not None else value
