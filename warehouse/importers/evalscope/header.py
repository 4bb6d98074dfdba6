"""Headers of EvalScope's runs: model, settings, figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.header_values import (
    fingerprint_of,
    local_time,
    unix_time,
)
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
from warehouse.importers.common.model_names import (
    local_model_name,
    parse_arguments,
    says_nothing,
)
from warehouse.importers.evalscope.report import Figure, Report, range_of, row_name
from warehouse.importers.evalscope.rows import SubsetFiles
from warehouse.records import (
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
    parse_json,
)

HARNESS = "evalscope"
#: Names of subsets that say no more than that the benchmark has no other.
_WHOLE = ("default", "main")
#: Settings of the client, which change nothing of what is generated.
_OF_THE_CLIENT = frozenset(
    ("batch_size", "stream", "timeout", "retries", "retry_interval", "seed")
)
#: Parts of a configuration that are of all benchmarks together, or read into fields of
#: the run.
_READ_ELSEWHERE = frozenset(
    """
    model model_id datasets dataset_args resolved_benchmarks evaluation_identity generation_config api_url judge
    judge_strategy judge_model_args sandbox use_sandbox sandbox_type
    """.split()
)
#: Settings of generation that have a field of their own, under each of their names.
_OF_FIELDS = frozenset(
    "temperature top_p max_tokens max_new_tokens max_gen_toks max_completion_tokens reasoning_effort seed".split()
)
#: Ways of running a model by the names of 0.x.
_WAYS = {"checkpoint": "llm_ckpt", "service": "openai_api", "server": "openai_api"}


def headers(
    source: SourceFiles,
    report: Report,
    config: Mapping[str, Any],
    subsets: Sequence[SubsetFiles],
) -> Iterator[RunHeader]:
    """The runs: subsets with rows in their order, then those that the report alone
    tells of."""
    settings = _typed(config)
    # a subset of which nothing was asked is reported as 0.0 of 0 samples
    named = [
        figure.subset
        for figure in report.figures()
        if figure.subset is not None and not figure.is_derived and figure.n != 0
    ]
    first = source.files[0]
    dataset = report.dataset or (first.stem if not subsets else subsets[0].benchmark)
    shared = _shared(first, source.root, report, settings, dataset, subsets)
    for subset in subsets:
        yield _header(shared, report, dataset, subset.subset, subset)
    for name in dict.fromkeys(named):
        if name not in {subset.subset for subset in subsets}:
            yield _header(shared, report, dataset, name, None)


def group_figures(
    report: Report, runs: Sequence[RunHeader], has_rows: bool
) -> Iterator[PublishedScore]:
    """Figures of the benchmark as a whole, where it is more than one run."""
    if not any(run.suite for run in runs):
        return
    metrics = chain.from_iterable(run.metrics for run in runs)
    names = dict.fromkeys(metric.name for metric in metrics)
    repeats = whole_count(runs[0].configuration.get("repeats")) or 1
    for figure in report.figures():
        if figure.subset is None or figure.is_derived:
            if has_rows:
                statistic = report.statistic_of(figure, repeats)
            else:
                statistic = figure.statistic
            if figure.subset is not None:
                statistic = f"{statistic} of {figure.subset}"
            metric = row_name(figure.metric, names)
            yield published_figure(
                metric,
                figure.value,
                benchmark=report.dataset,
                statistic=statistic,
                n=_prompts(figure, repeats),
            )


def _prompts(figure: Figure, repeats: int) -> int | None:
    """Prompts behind a figure: of means, ``num`` counts every repeat, also those that
    others lack; 0 is 0 of all."""
    if repeats == 1 or figure.n == 0:
        return figure.n
    return None


def leaf(dataset: str, subset: str) -> str:
    """The benchmark that a subset is."""
    if subset in _WHOLE or not subset:
        return dataset
    return f"{dataset}_{subset}"


def _shared(
    first: Path,
    root: Path,
    report: Report,
    settings: Row,
    dataset: str,
    subsets: Sequence[SubsetFiles],
) -> dict[str, Any]:
    """Header fields that the runs of all subsets have in common."""
    folder = first.parent.name
    named = text_or_none(settings.get("model"))
    model = _model(named, report.model or folder)
    given = part_of(part_of(settings, "dataset_args"), dataset)
    arguments = given | part_of(part_of(settings, "resolved_benchmarks"), dataset)
    generation = _generation(settings)
    revision = text_or_none(part_of(settings, "model_args").get("revision"))
    is_old = any(subset.is_old for subset in subsets) or (
        not subsets and not report.is_new
    )
    identity = part_of(
        part_of(part_of(settings, "evaluation_identity"), "benchmarks"), dataset
    )
    created = [subset.created for subset in subsets if subset.created is not None]
    stamp = local_time(root.name, "%Y%m%d_%H%M%S")
    return {
        "harness": HARNESS,
        "harness_version": text_or_none(settings.get("evalscope_version")),
        "model": model,
        "revision": None if revision in ("master", "main") else revision,
        "step": infer_step(revision, named, folder),
        "split": text_or_none(arguments.get("eval_split")) or "",
        # 0.x counts instructions, 1.x averages their shares; prompts and parsers
        # changed as well
        "task_version": text_or_none(identity.get("evaluation_version"))
        or ("0.x" if is_old else "1.x"),
        "fewshot": whole_count(arguments.get("few_shot_num")),
        "template_hash": fingerprint_of(
            prompt_template=text_or_none(arguments.get("prompt_template")),
            few_shot=text_or_none(arguments.get("few_shot_prompt_template")),
        ),
        "system_prompt_hash": fingerprint_of(
            system_prompt=text_or_none(arguments.get("system_prompt"))
        ),
        **sampling_fields(generation),
        "sampling": {
            key: item
            for key, item in other_sampling(generation).items()
            if key not in _OF_THE_CLIENT
        },
        "sampling_seed": whole_count(generation.get("seed")),
        "endpoint": endpoint_host(settings.get("api_url")),
        "run_id": root.name if stamp else None,
        "started_at": unix_time(min(created)) if created else stamp,
        "configuration": {
            **_configuration(settings, model),
            "dataset_args": {dataset: arguments},
            "evaluation_identity": {"benchmarks": {dataset: identity}},
            "generation_config": {
                key: item for key, item in generation.items() if key not in _OF_FIELDS
            },
        },
    }


def _configuration(settings: Row, model: str) -> Row:
    """The settings of a run that no field of its header holds."""
    named = text_or_none(settings.get("model"))
    configuration = {
        key: item
        for key, item in settings.items()
        if key not in _READ_ELSEWHERE and item is not None
    }
    configuration |= _under_one_name(settings)
    if is_local(named):
        configuration["model_path"] = named
    if _is_own_label(settings, model):
        configuration["model_id"] = settings.get("model_id")
    return configuration


def _model(named: str | None, label: str) -> str:
    """The model: as the configuration names it; one in a folder by its label, or by the
    folders above where the label is what such folders are called everywhere."""
    if named is None or (is_local(named) and not says_nothing(label)):
        return label
    if is_local(named):
        return local_model_name(named)
    return named


def _is_own_label(settings: Mapping[str, Any], model: str) -> bool:
    """True if somebody called the model otherwise than by its own name, or the last
    part of it."""
    label = text_or_none(settings.get("model_id"))
    path = text_or_none(settings.get("model")) or model
    return label is not None and label not in (
        model,
        path.rstrip("/").rpartition("/")[2],
    )


def _generation(settings: Mapping[str, Any]) -> Row:
    """Settings of generation; 0.x may write them as ``name=value,name=value``, and
    writes a temperature beside ``do_sample: false``, which holds."""
    generation = dict(parse_arguments(settings.get("generation_config")))
    if generation.get("do_sample") is False:
        sampled = ("do_sample", "top_p", "top_k")
        return {key: item for key, item in generation.items() if key not in sampled} | {
            "temperature": 0.0
        }
    return generation


def _under_one_name(settings: Mapping[str, Any]) -> Row:
    """Way of running, judge and sandbox, of which the names changed between
    versions."""
    judge = dict(part_of(settings, "judge"))
    judge.setdefault("strategy", settings.get("judge_strategy"))
    models = judge.get("models") or settings.get("judge_model_args")
    if isinstance(models, dict):
        judge["models"] = [models]
    else:
        judge["models"] = models
    sandbox = dict(part_of(settings, "sandbox"))
    sandbox.setdefault("enabled", settings.get("use_sandbox"))
    sandbox.setdefault("engine", settings.get("sandbox_type"))
    way = text_or_none(settings.get("eval_type"))
    return {"judge": judge, "sandbox": sandbox, "eval_type": _WAYS.get(way or "", way)}


def _header(
    shared: Mapping[str, Any],
    report: Report,
    dataset: str,
    subset: str,
    files: SubsetFiles | None,
) -> RunHeader:
    names = files.metrics if files else {}
    repeats = whole_count(shared["configuration"].get("repeats")) or 1
    single = (
        next(iter(names), None) if len(names) == 1 and len(report.names) == 1 else None
    )
    if files and single is not None and files.unnamed:
        files.unnamed = single = next(iter(report.names))
    published = []
    for figure in report.figures():
        if figure.subset == subset and not figure.is_derived:
            metric = (
                single
                if single and files and files.unnamed
                else row_name(figure.metric, names)
            )
            published.append(
                published_figure(
                    metric,
                    figure.value,
                    statistic=report.statistic_of(figure, repeats)
                    if files
                    else figure.statistic,
                    n=_prompts(figure, repeats)
                    if not files or files.tells_draws
                    else None,
                )
            )
    order = dict.fromkeys([row_name(name, names) for name in report.names])
    found = (
        [single]
        if files and files.unnamed and single
        else [*order, *(name for name in names if name not in order)]
    )
    requested = report.requested(subset)
    return RunHeader(
        **shared,
        benchmark=leaf(dataset, subset),
        suite=(dataset,) if leaf(dataset, subset) != dataset else (),
        metrics=tuple(
            MetricSpec(
                name,
                **range_of(_reported(report, name, names), name),
                is_default=index == 0,
            )
            for index, name in enumerate(found)
        ),
        n_requested=None if requested is None else -(-requested // repeats),
        published=tuple(published),
        place=f"{dataset}_{subset}",
    )


def _reported(report: Report, name: str, names: Mapping[str, Any]) -> Row:
    """The report on a metric of the rows."""
    return next(
        (item for key, item in report.names.items() if row_name(key, names) == name), {}
    )


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
    if parsed is None or isinstance(parsed, bool) or number_or_none(parsed) is not None:
        return parsed
    return value
