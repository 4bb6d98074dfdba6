"""Importer of OLMES (``oe-eval``): predictions of a task, its metrics, and the requests
where they were kept.

``task-000-arc_challenge-predictions.jsonl`` with ``…-metrics.json`` and
``…-requests.jsonl`` beside it; in releases of DataDecide without the number, below
``MIX/SIZE/seed-N/step-N``. A task by its options (``rc``) and by letters (``mc``) is
one benchmark in two formulations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.importers.base import infer_step, source_of
from warehouse.importers.common.header_values import fingerprint_of, moment
from warehouse.importers.common.json_fields import (
    Row,
    as_text,
    as_text_or_none,
    compact_or_none,
    is_local,
    number_or_none,
    objects_of,
    other_sampling,
    part_of,
    require_model,
    required_text,
    sampling_fields,
    text_of_any,
    text_or_none,
    texts_of,
    whole_count,
    whole_or_none,
    without_empty,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    batches_of,
    has_keys,
    head_of,
    read_document,
)
from warehouse.importers.common.model_names import local_model_name, says_nothing
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

PREDICTIONS = "-predictions.jsonl"
METRICS = "-metrics.json"
REQUESTS = "-requests.jsonl"
_KEYS = ("doc_id", "metrics", "model_output")
_RELEASED = re.compile(
    r"(?P<recipe>[^/]+)/(?P<size>\d+)(?P<unit>[MB])/seed-(?P<seed>\d+)/step-(?P<step>\d+)$"
)
#: What stands beside the metrics of a prompt and is none: counts, prices, and which
#: option was taken.
_BESIDE = re.compile(
    r"predicted_index.*|correct_choice|voted_ans.*|no_answer|num_tokens.*|price|max_tokens_reached"
)
_RATES = re.compile(
    r"(acc|exact_match|mc[12]|f1|recall|pass_at|maj_at|prompt_level|inst_level)(_.*)?"
)
#: Of all generations of a prompt together.
_OVER_DRAWS = re.compile(r"(pass|maj)_at_\d+")
#: Parts of the file of metrics that are outcomes or names.
_NOT_SETTINGS = frozenset(("metrics", "num_instances", "task_name", "task_idx"))
#: Log-likelihoods of the right option; bits of it, by whichever name.
_LIKELIHOODS = ("sum_logits_corr", "logits_per_token_corr", "logits_per_char_corr")
_BITS = "bits_per_byte_corr"


class Olmes:
    """One run for each task of one model."""

    name = "olmes"
    version = "2"  # 2: all settings
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Predictions with what stands beside them; metrics alone where there are no
        predictions."""
        paths = {item.path for item in candidates}
        for item in candidates:
            name = item.path.name
            head = head_of(item)
            if name.endswith(PREDICTIONS) and has_keys(head.partition("\n")[0], *_KEYS):
                beside = (
                    item.path.with_name(name.removesuffix(PREDICTIONS) + end)
                    for end in (METRICS, REQUESTS)
                )
                yield source_of(item.path, *(path for path in beside if path in paths))
            elif name.endswith(METRICS) and has_keys(
                head, "task_name", "task_hash", "model_hash"
            ):
                predictions = item.path.with_name(
                    name.removesuffix(METRICS) + PREDICTIONS
                )
                if predictions not in paths:
                    yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one task (InputError: a file is damaged, or nothing names the model)."""
        files = {path.name[path.name.rindex("-") :]: path for path in source.files}
        document = {}
        if METRICS in files:
            document = read_document(files[METRICS])
        path = files.get(PREDICTIONS)
        dump = Dump((), ())
        survey = _Survey()
        if path:
            for row, _ in RowSource(path, path.name, _KEYS).rows():
                survey.add(row)
        dump.runs = (_header(document, survey, source, settings.model),)
        if path:
            requests = _requests(files.get(REQUESTS), dump)
            dump.batches = batches_of(
                RowSource(
                    path, path.name, _KEYS, dump.rejections, dump.notes
                ).located(),
                partial(_rows, survey=survey, requests=requests),
                dump.rejections,
                "a prediction as OLMES writes it",
            )
        return dump


IMPORTER = Olmes()


@dataclass
class _Survey:
    """A survey of all predictions of a task."""

    ids: set[str] = field(default_factory=set)
    is_unique: bool = True  #: whether each prompt has an id of its own data set.
    #: metrics, and whether their values are 0 and 1.
    are_binary: dict[str, bool] = field(default_factory=dict)
    has_options: bool = False
    model_hash: Any = None  #: of the first of them.

    def add(self, row: Row) -> None:
        """Look at one of them."""
        if self.model_hash is None:
            self.model_hash = row.get("model_hash")
        native = row.get("native_id")
        self.is_unique &= native is not None and str(native) not in self.ids
        self.ids.add(str(native))
        for name, value in part_of(row, "metrics").items():
            if (number := number_or_none(value)) is not None and not _BESIDE.fullmatch(
                name
            ):
                self.are_binary[name] = self.are_binary.get(name, True) and number in (
                    0,
                    1,
                )
        self.has_options |= any(
            "sum_logits" in output for output in objects_of(row.get("model_output"))
        )


# --- the run -------------------------------------------------------------------------------------


def _header(
    document: Row, survey: _Survey, source: SourceFiles, declared: str | None
) -> RunHeader:
    model = part_of(document, "model_config")
    task = part_of(document, "task_config")
    path = source.files[0]
    who = _released(path.parent) or _model(model)
    require_model(declared or who.get("model"), source.name)
    stem = path.name.removesuffix(PREDICTIONS).removesuffix(METRICS)
    name = text_or_none(document.get("task_name")) or re.sub(r"^task-\d+-", "", stem)
    alias = part_of(task, "metadata").get("alias", "")
    words = f"{name}:{alias}".split(":")
    benchmark = words[0]
    generation = part_of(task, "generation_kwargs")
    n = whole_count(document.get("num_instances"))
    published = _figures(document)
    primary = text_or_none(task.get("primary_metric"))
    names = dict.fromkeys((*survey.are_binary, *published))
    is_mmlu = benchmark.startswith("mmlu_") and not benchmark.startswith("mmlu_pro")
    return RunHeader(
        **{"harness": "olmes", "model": "", **who},
        suite=("mmlu",) if is_mmlu else (),
        benchmark=benchmark,
        dataset_revision=text_or_none(task.get("revision")),
        split=text_or_none(task.get("split")) or "",
        task_version=text_of_any(task.get("version")),
        formulation=_formulation(survey, words),
        fewshot=whole_count(task.get("num_shots")),
        fewshot_seed=whole_or_none(task.get("fewshot_seed")),
        template_hash=_template_hash(task, model),
        **sampling_fields(generation),
        sampling=other_sampling(generation),
        metrics=tuple(
            _metric(key, survey.are_binary.get(key, False), primary) for key in names
        ),
        started_at=moment(str(document.get("current_date", "")).removesuffix(" UTC")),
        configuration=_configuration(document, survey),
        n_requested=n,
        published=tuple(
            PublishedScore(key, number_or_none(value), n=n)
            for key, value in published.items()
        ),
        place=path.name,
    )


def _figures(document: Row) -> dict[str, Any]:
    """The figures that a file of metrics states, without the primary one's copy."""
    figures = part_of(document, "metrics")
    return {
        key: value
        for key, value in figures.items()
        if key != "primary_score" and number_or_none(value) is not None
    }


def _formulation(survey: _Survey, words: Sequence[str]) -> str | None:
    if survey.has_options and "mc" in words:
        return "multiple_choice"
    if survey.has_options:
        return "cloze"
    if survey.are_binary:
        return "generate_until"
    return None


def _template_hash(task: Row, model: Row) -> str | None:
    fewshot_source = None
    if task.get("num_shots") != 0:
        fewshot_source = task.get("fewshot_source")
    return fingerprint_of(
        context_kwargs=task.get("context_kwargs"),
        use_chat_format=task.get("use_chat_format"),
        fewshot_source=fewshot_source,
        chat_template=model.get("chat_template"),
    )


def _configuration(document: Row, survey: _Survey) -> Row:
    settings = {"model_hash": survey.model_hash}
    for key, item in document.items():
        if key not in _NOT_SETTINGS:
            settings[key] = item
    return without_empty(settings)


def _released(folder: Path) -> dict[str, Any]:
    """The model, by the folders of a release of DataDecide; empty elsewhere."""
    found = _RELEASED.search(folder.as_posix())
    if found is None:
        return {}
    if found["unit"] == "M":
        unit = 10**6
    else:
        unit = 10**9
    return {
        "model": f"{found['recipe']}-{found['size']}{found['unit']}",
        "parameter_count": int(found["size"]) * unit,
        "recipe": found["recipe"],
        "training_seed": found["seed"],
        "step": int(found["step"]),
    }


def _model(config: Row) -> dict[str, Any]:
    """A model by its name, or by the folder of its weights, of which a step is no
    part."""
    name = text_or_none(config.get("model")) or ""
    revision = text_or_none(config.get("revision"))
    if is_local(name):
        location = name
    else:
        location = text_or_none(config.get("model_path")) or ""
    if location and (not name or name == location or says_nothing(name)):
        folder, _, last = location.rstrip("/").rpartition("/")
        is_step = infer_step(last) is not None and folder != ""
        place = location
        if is_step:
            place = folder
        named = local_model_name(place)
        return {"model": named, "step": infer_step(last, revision)}
    return {"model": name, "revision": revision, "step": infer_step(revision)}


def _metric(name: str, is_binary: bool, primary: str | None) -> MetricSpec:
    is_default = None
    if primary:
        is_default = name == primary
    more: Row = {"is_default": is_default}
    if _RATES.fullmatch(name):
        if is_binary:
            kind: Any = "binary"
        else:
            kind = "bounded"
        return MetricSpec(name, kind=kind, low=0, high=1, higher_is_better=True, **more)
    if name in _LIKELIHOODS:
        return MetricSpec(
            name, kind="continuous", high=0, higher_is_better=True, unit="nats", **more
        )
    if name == _BITS:
        return MetricSpec(
            name, kind="continuous", low=0, higher_is_better=False, unit="bits", **more
        )
    higher_is_better = None
    if name == primary:
        higher_is_better = True
    return MetricSpec(name, higher_is_better=higher_is_better, **more)


# --- rows ----------------------------------------------------------------------------------------


def _requests(path: Path | None, dump: Dump) -> Mapping[str, Row]:
    """Requests by prompt: the first request of each has it all but the options."""
    found: dict[str, Row] = {}
    for row, _ in RowSource(path, path.name, notes=dump.notes).rows() if path else ():
        doc = part_of(row, "doc")
        request = part_of(row, "request")
        context = request.get("context")
        options = texts_of(doc.get("choices"))
        found.setdefault(
            str(row["doc_id"]),
            {
                "text": text_or_none(doc.get("query")),
                "choices": compact_or_none(options),
                "metadata": compact_or_none(doc),
                "prompt_sent": as_text_or_none(context),
            },
        )
    return found


def _rows(row: Row, survey: _Survey, requests: Mapping[str, Row]) -> Iterator[Row]:
    outputs = objects_of(row.get("model_output"))
    label = row.get("label")
    document = required_text(row, "doc_id")
    options = [output for output in outputs if "sum_logits" in output]
    prompt = {
        "run": 0,
        "position": whole_count(row["doc_id"]),
        "prompt_id": str(row["native_id"]) if survey.is_unique else document,
        "target": as_text_or_none(label),
        **requests.get(document, {}),
    }
    scores = [
        _score(name, part_of(row, "metrics").get(name), len(outputs))
        for name in survey.are_binary
    ]
    if options or len(outputs) < 2:
        more = {
            "choice_scores": [
                *map(partial(_choice, label=label), range(len(options)), options)
            ]
            or None
        }
        yield {
            **prompt,
            "draw": 0,
            **(more if options else _said(*outputs[:1])),
            "scores": scores,
        }
        return
    first = [score for score in scores if not _OVER_DRAWS.fullmatch(score["metric"])]
    # a metric of one generation is that of the first
    for draw, output in enumerate(outputs):
        yield {
            **prompt,
            "draw": draw,
            **_said(output),
            "scores": first if draw == 0 else [],
        }
    if together := [score for score in scores if score not in first]:
        yield {**prompt, "draw": -1, "scores": together}


def _score(name: str, figure: Any, n_draws: int) -> Row:
    value = number_or_none(figure)
    if figure is None or value is not None:
        raw = None
    else:
        raw = as_text(figure)[:200]
    over_draws = None
    if _OVER_DRAWS.fullmatch(name):
        over_draws = n_draws
    return {
        "metric": name,
        "value": value,
        "raw": raw,
        "n_draws": over_draws,
    }


def _said(output: Row | None = None) -> Row:
    output = output or {}
    return {
        "response": text_or_none(output.get("continuation")),
        "extracted_answer": text_of_any(output.get("model_answer")),
        "output_tokens": whole_count(output.get("num_tokens")),
    }


def _choice(index: int, output: Row, label: Any) -> Row:
    is_greedy = output.get("is_greedy")
    greedy = None
    if isinstance(is_greedy, bool):
        greedy = is_greedy
    is_target = None
    if isinstance(label, int):
        is_target = index == label
    return {
        "choice_index": index,
        "loglikelihood": number_or_none(output["sum_logits"]),
        "unconditional_loglikelihood": number_or_none(output.get("sum_logits_uncond")),
        "is_greedy": greedy,
        "n_tokens": whole_count(output.get("num_tokens")),
        "is_target": is_target,
    }
