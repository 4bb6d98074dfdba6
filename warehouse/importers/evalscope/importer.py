"""Importer of EvalScope: predictions, reviews and report of one model on one
benchmark."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
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
    no_objects,
    number_or_none,
    object_of,
    objects_of,
    other_sampling,
    part_of,
    published_figure,
    sampling_fields,
    text_or_none,
    texts_of,
    whole_count,
)
from warehouse.importers.common.jsonl import has_keys, head_of, read_document
from warehouse.importers.common.model_names import (
    local_model_name,
    parse_arguments,
    says_nothing,
)
from warehouse.importers.common.yaml_text import read_yaml
from warehouse.importers.evalscope.rows import SubsetFiles, batches
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricKind,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
    parse_json,
)

_OF_OVERLAP = ("recall", "precision", "f1")
#: Reports of version 2 write these names of rows out.
_SPELT_OUT = {
    **{
        "acc": "accuracy",
        "f1_score": "f1",
        "em": "exact_match",
        "bertscore": "bert_score",
    },
    **{f"bleu-{n}": f"bleu[ngram={n}]" for n in range(1, 5)},
    **{
        f"rouge-{n}-{of[0]}": f"rouge[ngram={n},statistic={of}]"
        for n in (1, 2)
        for of in _OF_OVERLAP
    },
    **{f"rouge-l-{of[0]}": f"rouge[statistic={of},variant=l]" for of in _OF_OVERLAP},
}
# "mean_acc", "mean_acc_pass@2"   the mean, or another figure, of the metric of the rows
_NAMED = re.compile(
    r"(?:mean_)?(?P<name>.+?)(?:_(?P<figure>(?:pass|vote)@\d+|pass\^\d+))?"
)
_K_OF = {"pass_at_k": "pass@{}", "pass_hat_k": "pass^{}", "vote_at_k": "vote@{}"}
_HIGHER = re.compile(
    r"acc|exact|^em$|pass|f1|level_(?:strict|loose)|rouge|bleu|win_rate", re.IGNORECASE
)


@dataclass(frozen=True)
class Figure:
    """One figure: of a subset, or of all of them (``subset`` is ``None``)."""

    metric: str
    statistic: str
    subset: str | None
    value: Any
    n: int | None
    is_derived: bool = False  # from other subsets: it has no samples of its own


@dataclass(frozen=True)
class Report:
    """A report as it was parsed; empty where there is none."""

    document: Row

    @property
    def dataset(self) -> str:
        return text_or_none(self.document.get("dataset_name")) or ""

    @property
    def model(self) -> str | None:
        return text_or_none(self.document.get("model_name"))

    @property
    def is_new(self) -> bool:
        """True if it is of 1.x: 0.x calls it ``<model>_<dataset>``."""
        return self.document.get("schema_version") == 2 or "@" in str(
            self.document.get("name")
        )

    @cached_property
    def names(self) -> dict[str, Row]:
        """The metrics by name, the headline first, each as the report states it."""
        metrics = objects_of(self.document.get("metrics"))
        primary = self.document.get("primary_metric_identity")
        metrics.sort(key=lambda item: item.get("identity") != primary if primary else 0)
        named: dict[str, Row] = {}
        for item in metrics:
            named.setdefault(_name(item)[0], item)
        return named

    def requested(self, subset: str | None) -> int | None:
        """Samples that a subset, or the benchmark, was to have."""
        summary = part_of(self.document, "execution_summary")
        if subset is None:
            part = summary
        else:
            part = part_of(part_of(summary, "subsets"), subset)
        return whole_count(part.get("requested"))

    def failures(self) -> Iterator[str]:
        """Notes on samples that failed: current writers keep no row of them."""
        for name, part in part_of(
            part_of(self.document, "execution_summary"), "subsets"
        ).items():
            counts = object_of(part)
            failed, requested = (
                whole_count(counts.get("errored")),
                whole_count(counts.get("requested")),
            )
            if failed:
                yield (
                    f"{self.dataset}, {name}: {failed} of {requested} samples failed, "
                    "which are no wrong answers"
                )

    def statistic_of(self, figure: Figure, repeats: int) -> str:
        """The statistic of a figure. Means are over samples: where a question lacks
        some of its repeats, which then are in no file, they are not those of the
        questions."""
        n, requested = figure.n or 0, self.requested(figure.subset)
        if requested is None:
            lacks = n % repeats
        else:
            lacks = n < requested
        if repeats > 1 and lacks and figure.statistic == "mean":
            return "mean of samples"
        return figure.statistic

    def figures(self) -> Iterator[Figure]:
        """All figures of subsets, and those of the benchmark as a whole."""
        for item in objects_of(self.document.get("metrics")):
            metric, statistic = _name(item)
            for category in objects_of(item.get("categories")):
                for subset in objects_of(category.get("subsets")):
                    name = text_or_none(subset.get("name")) or "default"
                    derived = subset.get("is_aggregate") is True
                    yield Figure(
                        metric,
                        statistic,
                        name,
                        subset.get("score"),
                        whole_count(subset.get("num")),
                        derived,
                    )
            n = whole_count(item.get("num"))
            yield Figure(metric, statistic, None, item.get("score"), n)
            if item.get("macro_score") not in (None, item.get("score")):
                yield Figure(
                    metric, f"{statistic} over subsets", None, item["macro_score"], n
                )


def range_of(metric: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Direction and bounds of a metric, as a report of version 2 declares them; else by
    its name."""
    semantics = part_of(metric, "semantics")
    bounds = part_of(semantics, "value_range")
    low, high = number_or_none(bounds.get("min")), number_or_none(bounds.get("max"))
    direction = semantics.get("direction")
    kind: MetricKind | None = None
    if semantics.get("kind") == "diagnostic":
        kind = "continuous"
    higher = {"higher_is_better": True, "lower_is_better": False}.get(str(direction))
    if not semantics and _HIGHER.search(name):
        higher = True
    bounded = low is not None and high is not None
    lowest = None
    highest = None
    if bounded:
        lowest = low
        highest = high
    return {
        "kind": kind,
        "low": lowest,
        "high": highest,
        "higher_is_better": higher,
        "unit": text_or_none(semantics.get("raw_unit")) or "",
    }


def row_name(published: str, names: Mapping[str, Any]) -> str:
    """The name that rows have for a metric of the report."""
    if published in names:
        return published
    spelt = {_SPELT_OUT.get(name.lower(), name.lower()): name for name in names}
    return spelt.get(published, published)


def _name(item: Row) -> tuple[str, str]:
    """Metric and statistic that a report means."""
    identity = part_of(item, "identity")
    if not identity:
        full_name = text_or_none(item.get("name")) or "score"
        parts = _NAMED.fullmatch(full_name)
        if parts:
            return (parts["name"], parts["figure"] or "mean")
        return (full_name, "mean")
    dimensions = dict(part_of(identity, "dimensions"))
    aggregation = text_or_none(identity.get("aggregation")) or "identity"
    statistic = aggregation
    if aggregation in ("mean", "micro_mean", "identity"):
        statistic = "mean"
    if aggregation in _K_OF and "k" in dimensions:
        statistic = _K_OF[aggregation].format(dimensions.pop("k"))
    name = text_or_none(identity.get("name")) or "score"
    pairs = sorted(dimensions.items())
    axes = ",".join(f"{key}={value}" for key, value in pairs)
    if axes:
        name = f"{name}[{axes}]"
    return name, statistic


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
            **{
                key: item
                for key, item in settings.items()
                if key not in _READ_ELSEWHERE and item is not None
            },
            **_under_one_name(settings),
            **({"model_path": named} if is_local(named) else {}),
            **(
                {"model_id": settings.get("model_id")}
                if _is_own_label(settings, model)
                else {}
            ),
            "dataset_args": {dataset: arguments},
            "evaluation_identity": {"benchmarks": {dataset: identity}},
            "generation_config": {
                key: item for key, item in generation.items() if key not in _OF_FIELDS
            },
        },
    }


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


_CONFIG = re.compile(r"task_config(_[0-9a-f]+)?\.ya?ml")
#: How rows begin: what tells more stands behind a text, which may be long.
_NEW_ROW = re.compile(r'\{\s*"index"\s*:\s*\d+\s*,\s*"(?:model|target|input)"')
_OLD_ROW = re.compile(r'\{\s*"(?:id|object|created|model|choices)"\s*:')


@dataclass
class _Work:
    """Files of one model in one work folder; those of subsets by the stem of their
    names."""

    reports: dict[str, Path] = field(default_factory=dict)
    predictions: dict[str, Path] = field(default_factory=dict)
    reviews: dict[str, Path] = field(default_factory=dict)


class EvalScope:
    """Files under ``predictions/``, ``reviews/`` and ``reports/`` of a work folder, and
    its configuration."""

    name = "evalscope"
    version = "5"  # 4: a figure over no sample is none; reviews of 1.0 to 1.5; 5: all settings
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each model and benchmark; the folder's configuration goes with
        all."""
        works: dict[tuple[Path, str], _Work] = defaultdict(_Work)
        configs: dict[Path, Path] = {}
        for item in candidates:
            path = item.path
            if path.parent.name == "configs" and _CONFIG.fullmatch(path.name):
                configs[path.parent.parent] = path  # the last one is the newest
            elif kind := _kind(item):
                getattr(works[path.parents[2], path.parent.name], kind)[path.stem] = (
                    path
                )
        for (root, _), work in works.items():
            config = []
            if root in configs:
                config = [configs[root]]
            for paths in _by_benchmark(work, config).values():
                yield SourceFiles(str(paths[0]), root, (*paths, *config))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open the files of one benchmark (InputError: a file is damaged)."""
        configs = [path for path in source.files if path.parent.name == "configs"]
        parsed = None
        if configs:
            parsed = read_yaml(configs[0])
        config = object_of(parsed)
        named = next(
            (path for path in source.files if path.parent.parent.name == "reports"),
            None,
        )
        if named:
            document = read_document(named)
        else:
            document = {}
        report = Report(document)
        dump = Dump((), ())
        dataset = report.dataset or _configured_of(source, config)
        subsets = SubsetFiles.of(source, dataset, _repeats(config), dump)
        dump.runs = tuple(headers(source, report, config, subsets))
        dump.notes += no_objects(
            report.document.get("metrics"),
            f"{named.name if named else dataset}: metrics",
        )
        dump.notes += report.failures()
        unasked = dict.fromkeys(
            figure.subset
            for figure in report.figures()
            if figure.subset and figure.n == 0
        )
        if unasked:
            dump.notes.append(
                f"{dataset}: {', '.join(unasked)} report 0 samples: nothing was asked "
                "there, and their figures are none"
            )
        dump.published = tuple(group_figures(report, dump.runs, bool(subsets)))
        dump.batches = batches(subsets, dump)
        return dump


def _repeats(config: Mapping[str, Any]) -> int:
    """Generations of each question; YAML is read as text."""
    repeats = str(config.get("repeats"))
    if repeats.isdecimal() and len(repeats) < 7:
        return max(int(repeats), 1)
    return 1


def _kind(candidate: Candidate) -> str:
    """The kind of a file by its folder, its name and its first bytes; empty: none of
    ours."""
    path, head = candidate.path, head_of(candidate)
    if len(path.parents) < 3:
        return ""
    folder = path.parent.parent.name
    if folder == "reports" and path.suffix == ".json":
        if has_keys(head, "dataset_name", "model_name") and '"metrics"' in head:
            return "reports"
        return ""
    if folder not in ("predictions", "reviews") or path.suffix != ".jsonl":
        return ""
    is_old = _OLD_ROW.match(head) and has_keys(head, "choices")
    if _NEW_ROW.match(head) or is_old:
        return folder
    return ""


def _by_benchmark(work: _Work, config: Sequence[Path]) -> dict[str, list[Path]]:
    """The files of each benchmark, its report first."""
    paths_by_benchmark = {name: [path] for name, path in work.reports.items()}
    stems = dict.fromkeys((*work.reviews, *work.predictions))
    names = list(work.reports)
    if any(_benchmark_of(stem, names) is None for stem in stems):
        names += _configured(config)
    for stem in stems:
        paths = paths_by_benchmark.setdefault(_benchmark_of(stem, names) or stem, [])
        paths += [
            files[stem] for files in (work.reviews, work.predictions) if stem in files
        ]
    return paths_by_benchmark


def _benchmark_of(stem: str, names: Sequence[str]) -> str | None:
    """The benchmark of ``<benchmark>_<subset>``, both of which may have ``_`` in
    them."""
    return max(
        (name for name in names if stem.startswith(f"{name}_")), key=len, default=None
    )


def _configured(config: Sequence[Path]) -> list[str]:
    """The benchmarks that a configuration names; what is wrong with it is said where it
    is read."""
    try:
        parsed = None
        if config:
            parsed = read_yaml(config[0])
    except InputError:
        return []
    if isinstance(parsed, dict):
        return _datasets(parsed)
    return []


def _configured_of(source: SourceFiles, config: Mapping[str, Any]) -> str:
    """The configured benchmark that files without a report are of; empty where none
    is."""
    stems = [path.stem for path in source.files if path.suffix == ".jsonl"]
    return next(
        (name for stem in stems if (name := _benchmark_of(stem, _datasets(config)))), ""
    )


def _datasets(config: Mapping[str, Any]) -> list[str]:
    return texts_of(config.get("datasets"))


IMPORTER = EvalScope()
