"""An evaluation of Every Eval Ever as run headers: one for each benchmark that it
names."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import infer_step
from warehouse.importers.common.header_values import fingerprint_of, moment, unix_time
from warehouse.importers.common.json_fields import (
    first_text,
    mapping_of,
    number_in_text,
    number_or_none,
    objects_of,
    published_figure,
    text_or_none,
    without_nulls,
)
from warehouse.importers.common.run_settings import (
    key_of_settings,
    without_what_does_not_count,
)
from warehouse.records import (
    MetricKind,
    MetricSpec,
    PublishedScore,
    Rejection,
    RunHeader,
    parse_json,
)

UNNAMED = "score"
#: Parts of a result that are its name, its figure, or of its metric.
_NOT_CONDITIONS = frozenset(
    """
    evaluation_result_id evaluation_name evaluation_timestamp metric_config score_details
    detailed_evaluation_results_url
    """.split()
)
#: Parts of an evaluation that are no settings, or read into fields of the run.
_NOT_SETTINGS = frozenset(
    "evaluation_id evaluation_timestamp retrieved_timestamp evaluation_results eval_library model_info".split()
)


@dataclass(frozen=True)
class EvaluationEntry:
    """One of ``evaluation_results``: what it is called here, and as it stands."""

    benchmark: str
    metric: str
    filter: str
    result: Mapping[str, Any]
    condition: str = ""  #: a key of the settings that it was made with.

    @property
    def run(self) -> tuple[str, str]:
        """The part that it has in common with the other results of its run."""
        return self.benchmark, self.condition

    @property
    def config(self) -> dict[str, Any]:
        return mapping_of(self.result, "metric_config")


@dataclass
class Evaluation:
    """The JSON file of an evaluation; empty where there are samples only."""

    document: Mapping[str, Any]
    samples: Sequence[Path]
    path: str
    positions: dict[tuple[int, str], int] = field(default_factory=dict)

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first sample; empty where there is none."""
        if self.samples:
            return first_line(self.samples[0])
        return {}

    @property
    def model(self) -> str | None:
        info = mapping_of(self.document, "model_info")
        return first_text(info, "id", "name") or text_or_none(
            self.first.get("model_id")
        )

    @cached_property
    def entries(self) -> list[EvaluationEntry]:
        """The results with names that are each of one metric of one benchmark."""
        items = objects_of(self.document.get("evaluation_results"))
        named = [(_benchmark(item), _metric(item), _condition(item)) for item in items]
        entries: list[EvaluationEntry] = []
        seen = Counter[tuple[str, str, str, str]]()
        for item, (benchmark, metric, condition) in zip(items, named, strict=True):
            # of several scorers each is called by its id, whichever stands first
            shared = named.count((benchmark, metric, condition)) > 1
            name = ""
            if shared:
                name = text_or_none(item.get("evaluation_result_id")) or str(
                    len(entries)
                )
            seen[benchmark, metric, condition, name] += 1
            times = seen[
                benchmark, metric, condition, name
            ]  # reducers of Inspect share an id
            label = name
            if times > 1:
                label = f"{name} {times}"
            entries.append(EvaluationEntry(benchmark, metric, label, item, condition))
        return entries or self._named_by_samples()

    def _named_by_samples(self) -> list[EvaluationEntry]:
        """Header fields from samples whose evaluation is not there: their metrics are
        called by the ids of its results."""
        lines = chain.from_iterable(read_lines(path, []) for path in self.samples)
        named = dict.fromkeys(map(_named_by, lines)) or {_named_by({}): None}
        with_ids = {benchmark for benchmark, metric in named if metric != UNNAMED}
        return [
            EvaluationEntry(
                benchmark,
                metric,
                "",
                {"evaluation_result_id": metric} if benchmark in with_ids else {},
            )
            for benchmark, metric in named
            if metric != UNNAMED or benchmark not in with_ids
        ]

    @cached_property
    def runs(self) -> list[tuple[str, str]]:
        """Benchmark and settings of each run."""
        return list(dict.fromkeys(entry.run for entry in self.entries))

    @cached_property
    def _by_result(self) -> dict[str, EvaluationEntry]:
        ids = (
            (entry.result.get("evaluation_result_id"), entry) for entry in self.entries
        )
        return {key: entry for key, entry in ids if isinstance(key, str)}

    @cached_property
    def _by_name(self) -> dict[str, list[EvaluationEntry]]:
        entries_by_name: dict[str, list[EvaluationEntry]] = {}
        for entry in self.entries:
            entries_by_name.setdefault(
                str(entry.result.get("evaluation_name")), []
            ).append(entry)
        return entries_by_name

    def entry_of(self, row: Mapping[str, Any]) -> tuple[int, str, str]:
        """Run, metric and filter that a sample's row belongs to."""
        if not self.document.get("evaluation_results"):
            benchmark, metric = _named_by(row)
            return self.runs.index((benchmark, "")), metric, ""
        entry = self._by_result.get(str(row.get("evaluation_result_id")))
        named = self._by_name.get(str(row.get("evaluation_name")), [])
        if entry is None and len(named) == 1:
            entry = named[0]
        if entry is not None:
            return self.runs.index(entry.run), entry.metric, entry.filter
        return self.runs.index((named or self.entries)[0].run), UNNAMED, ""

    def unscored(self, row: Mapping[str, Any]) -> list[EvaluationEntry]:
        """The results of a row that says it counts in none: its score is a converter's
        filling (a sample that failed, or values that are no numbers)."""
        if row.get("evaluation_result_id") is not None:
            return []
        run = self.runs[self.entry_of(row)[0]]
        own = (entry for entry in self.entries if entry.run == run)
        return [entry for entry in own if entry.result.get("evaluation_result_id")]

    def headers(self, notes: list[str]) -> Iterator[RunHeader]:
        """A header for each benchmark, and each of the settings that it was asked
        with."""
        for run in self.runs:
            entries = [entry for entry in self.entries if entry.run == run]
            yield self._header(run[0], entries, notes)

    def _header(
        self, benchmark: str, entries: Sequence[EvaluationEntry], notes: list[str]
    ) -> RunHeader:
        document = self.document
        first = entries[0].result
        info = mapping_of(document, "model_info")
        library = mapping_of(document, "eval_library")
        details = mapping_of(info, "additional_details")
        source = mapping_of(first, "source_data")
        revision = first_text(details, "revision", "model_revision", "checkpoint")
        dataset = text_or_none(source.get("dataset_name"))
        ids = source.get("sample_ids")
        return RunHeader(
            harness=text_or_none(library.get("name")) or "every_eval_ever",
            harness_version=text_or_none(library.get("version")),
            model=self.model or "",
            developer=text_or_none(info.get("developer")),
            revision=revision,
            step=infer_step(revision, self.model),
            endpoint=text_or_none(info.get("inference_platform")),
            benchmark=benchmark,
            suite=(dataset,) if dataset and dataset != benchmark else (),
            split=text_or_none(source.get("hf_split")) or "",
            **_sampling(first),
            metrics=tuple(_specs(entries, notes)),
            run_id=self._run_id,
            started_at=self._stated_at(first),
            configuration=self._configuration(entries),
            n_requested=_count(source.get("samples_number"))
            or (len(ids) if isinstance(ids, list) and ids else None),
            published=tuple(_published(entries)),
            place=Path(self.path).name,
        )

    @property
    def _run_id(self) -> str | None:
        """The id of the evaluation, unless it is the time at which a board or a log was
        looked at: looking again is no other run."""
        name = first_text(self.document, "evaluation_id") or first_text(
            self.first, "evaluation_id"
        )
        tail = number_in_text((name or "").rpartition("/")[2])
        retrieved = number_in_text(self.document.get("retrieved_timestamp"))
        looked_at = (
            tail is not None and retrieved is not None and int(tail) == int(retrieved)
        )
        if looked_at:
            return None
        return name

    def _stated_at(self, result: Mapping[str, Any]) -> datetime | None:
        """When the evaluation was made; of figures whose id does not tell one
        evaluation from the next, when they were looked at."""
        document = self.document
        made = _moment(result.get("evaluation_timestamp")) or _moment(
            document.get("evaluation_timestamp")
        )
        if self.samples or self._run_id is not None:
            return made
        return _moment(document.get("retrieved_timestamp")) or made

    def _configuration(self, entries: Sequence[EvaluationEntry]) -> dict[str, Any]:
        """Settings in the evaluation by which the figures of one run came about."""
        document = self.document
        library = mapping_of(document, "eval_library")
        info = mapping_of(document, "model_info")
        configs = {
            f"{entry.metric} {entry.filter}".strip(): entry.config for entry in entries
        }
        parts = {
            **{
                name: item
                for name, item in document.items()
                if name not in _NOT_SETTINGS
            },
            "model_info": {
                name: item
                for name, item in info.items()
                if name not in ("id", "inference_platform")
            },
            "eval_library": {
                name: item for name, item in library.items() if name != "version"
            },
            "metric_config": configs,
            **_conditions_of(entries[0].result),
        }
        counted = without_what_does_not_count("every_eval_ever", parts)
        return {name: item for name, item in counted.items() if item}


def _conditions_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Conditions of a result: its data and the generation of the
    answers."""
    stated = {
        name: item for name, item in result.items() if name not in _NOT_CONDITIONS
    }
    source = mapping_of(result, "source_data")
    return {
        **stated,
        "source_data": {
            name: item for name, item in source.items() if name != "sample_ids"
        },
    }


def _condition(result: Mapping[str, Any]) -> str:
    return key_of_settings("every_eval_ever", _conditions_of(result))


def _named_by(row: Mapping[str, Any]) -> tuple[str, str]:
    """Benchmark and metric that a sample names by itself."""
    return first_text(row, "evaluation_name") or "unknown", first_text(
        row, "evaluation_result_id"
    ) or UNNAMED


def _benchmark(item: Mapping[str, Any]) -> str:
    """The evaluation's name; with the data set's where it does not say it: some
    converters put a scorer's name there, which would join benchmarks that share a
    scorer."""
    name = text_or_none(item.get("evaluation_name")) or "unknown"
    dataset = text_or_none(mapping_of(item, "source_data").get("dataset_name"))
    if dataset is None or dataset.casefold() in name.casefold():
        return name
    return f"{dataset}/{name}"


def _metric(item: Mapping[str, Any]) -> str:
    config = mapping_of(item, "metric_config")
    named = first_text(config, "metric_id", "metric_name", "metric_kind")
    described = text_or_none(config.get("evaluation_description"))
    return named or (described if described and len(described) < 40 else UNNAMED)


def _sampling(item: Mapping[str, Any]) -> dict[str, Any]:
    arguments = mapping_of(item, "generation_config", "generation_args")
    kept = {
        "top_k": number_or_none(arguments.get("top_k")),
        "reasoning": arguments.get("reasoning"),
    }
    return {
        "temperature": number_in_text(arguments.get("temperature")),
        "top_p": number_in_text(arguments.get("top_p")),
        "max_tokens": _count(arguments.get("max_tokens")),
        "template_hash": fingerprint_of(
            prompt_template=text_or_none(arguments.get("prompt_template"))
        ),
        "sampling": without_nulls(kept),
    }


def _specs(
    entries: Sequence[EvaluationEntry], notes: list[str]
) -> Iterator[MetricSpec]:
    for index, entry in enumerate(entries):
        kind, low, high = _bounds(entry, notes)
        judges, parameters = _judges(entry.config)
        lower = entry.config.get("lower_is_better")
        higher_is_better = None
        if isinstance(lower, bool):
            higher_is_better = not lower
        yield MetricSpec(
            name=entry.metric,
            filter=entry.filter,
            kind=kind,
            low=low,
            high=high,
            higher_is_better=higher_is_better,
            unit=text_or_none(entry.config.get("metric_unit")) or "",
            scorer_kind="model" if judges else "match",
            judge_model=judges,
            scorer_parameters=parameters,
            is_default=index == 0,
        )


def _bounds(
    entry: EvaluationEntry, notes: list[str]
) -> tuple[MetricKind | None, float | None, float | None]:
    """Kind and bounds; no bounds where the figure itself is outside of them."""
    config = entry.config
    low = number_or_none(config.get("min_score"))
    high = number_or_none(config.get("max_score"))
    score = number_or_none(mapping_of(entry.result, "score_details").get("score"))
    outside = score is not None and (
        (high is not None and score > high) or (low is not None and score < low)
    )
    if outside:
        notes.append(
            f"{entry.benchmark}, {entry.metric}: {score} is outside of the stated "
            f"bounds [{low}, {high}]; they are not taken"
        )
        return None, None, None
    if config.get("score_type") == "binary":
        return "binary", 0.0, 1.0
    if config.get("score_type") == "continuous":
        return "continuous" if low is None or high is None else "bounded", low, high
    return None, low, high


def _judges(config: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    scoring = mapping_of(config, "llm_scoring")
    infos = [
        mapping_of(item, "model_info") for item in objects_of(scoring.get("judges"))
    ]
    names = [str(info.get("id") or info.get("name") or "unknown") for info in infos]
    parameters = {
        "input_prompt": fingerprint_of(
            input_prompt=text_or_none(scoring.get("input_prompt"))
        ),
        "aggregation_method": text_or_none(scoring.get("aggregation_method")),
    }
    return "+".join(names), {key: value for key, value in parameters.items() if value}


def _published(entries: Sequence[EvaluationEntry]) -> Iterator[PublishedScore]:
    for entry in entries:
        details = mapping_of(entry.result, "score_details")
        error = mapping_of(details, "uncertainty", "standard_error").get("value")
        n = mapping_of(details, "uncertainty").get("num_samples")
        if "score" in details:
            yield published_figure(
                entry.metric,
                details["score"],
                filter=entry.filter,
                standard_error=number_or_none(error),
                n=0 if n == 0 and type(n) is int else _count(n),
            )


def _moment(value: Any) -> datetime | None:
    """A time in Unix seconds (as text, mostly) or ISO form, as naive UTC."""
    if isinstance(value, (int, float)) or str(value).replace(".", "", 1).isdecimal():
        return unix_time(float(value))
    return moment(str(value))


def _count(value: Any) -> int | None:
    if type(value) is int and 0 < value < 1 << 62:
        return value
    return None


#: Longest line that is read; a longer one is no sample.
LONGEST_LINE = 256 << 20


Row = dict[str, Any]


def read_lines(path: Path, rejections: list[Rejection]) -> Iterator[Row]:
    """The rows of a file; a line that is none is recorded with its number."""
    with path.open("rb") as handle:
        number = 0
        while line := handle.readline(LONGEST_LINE):
            number += 1
            if not line.strip():
                continue
            try:
                row = parse_json(line.removeprefix(BOM_UTF8))
                if not isinstance(row, dict) or not isinstance(
                    row.get("sample_id"), (str, int)
                ):
                    raise ValueError("no object with a sample_id")
            except (ValueError, RecursionError) as error:
                where = f"{path.name} line {number}"
                rejections.append(
                    Rejection(where, str(error)[:300], "a sample as a JSON object")
                )
            else:
                yield row


def first_line(path: Path) -> Row:
    """The first sample of a file (InputError: there is none)."""
    line = next(read_lines(path, []), None)
    if line is None:
        raise InputError(
            "no line is a sample",
            path=str(path),
            expected="samples of Every Eval Ever, one JSON object a line",
        )
    return line
