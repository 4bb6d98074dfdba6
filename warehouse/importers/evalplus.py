"""Importers of EvalPlus results and of those of OpenAI's human-eval."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import binary_metric, source_of
from warehouse.importers.common.json_fields import (
    Row,
    compact,
    compact_or_none,
    item_at,
    list_of,
    require_model,
    required_text,
    string_or_none,
    text_or_none,
    verdict,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    batches_of,
    has_keys,
    head_of,
    read_document,
)
from warehouse.importers.common.run_settings import SameInAll
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    RunHeader,
    SourceFiles,
)

METRIC = "pass@1"
BASE, PLUS = "base", "plus"
STATUSES = ("pass", "fail", "timeout")

# with a dot before it, or "_" as older releases have it
_END = re.compile(r"(?:(?P<stem>.+)[._])?eval_results\.json")
# org--tiny_vllm_temp_0.2-sanitized   model, backend (not before 0.3), temperature,
# whether programs were cut out; what else a person wrote behind them
_BACKENDS = "vllm|hf|hf_gaudi|openai|anthropic|google|bedrock|ollama|gptqmodel"
_NAME = re.compile(
    rf"(?P<model>.+?)(?:_(?P<backend>{_BACKENDS}))?_temp_(?P<temperature>\d+(?:\.\d+)?)(?P<sanitized>-sanitized)?"
    r"(?:[-_.](?P<rest>[A-Za-z].*))?"
)
#: What a results file holds besides settings: its data, its verdicts, figures made of
#: them.
_READ_ELSEWHERE = ("eval", "hash", "pass_at_k")


def _passed(tests: str, is_default: bool) -> MetricSpec:
    return binary_metric(
        METRIC, filter=tests, scorer_kind="execution", is_default=is_default
    )


class EvalPlus:
    """Verdicts of the base tests, and of those together with the plus tests."""

    name = "evalplus"
    version = "4"  # 3: names that end with .eval_results.json; 4: all that name and file say is a setting
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each results file is a source, with the raw generations beside it."""
        paths = {item.path for item in candidates}
        for item in candidates:
            head = head_of(item)
            named = _END.fullmatch(item.path.name)
            has_verdicts = has_keys(head, "base_status") or has_keys(
                head, "nfiles", "base"
            )
            if not (has_keys(head, "eval") and has_verdicts) and not (
                named and has_keys(head, "hash", "eval")
            ):
                continue
            raw = item.path.with_name(
                f"{named and named['stem'] or item.path.name}.raw.jsonl"
            )
            others = (raw,) if raw in paths else ()
            yield source_of(item.path, *others)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one results file (InputError: a file is damaged, or nothing names the
        model)."""
        path = source.files[0]
        document = read_document(path)
        tasks = document.get("eval")
        if not isinstance(tasks, dict):
            raise InputError(
                "'eval' is no object", path=str(path), expected="verdicts by task"
            )
        ended = _END.fullmatch(path.name)
        named = _NAME.fullmatch(
            ended["stem"] if ended and ended["stem"] else path.parent.name
        )
        model = named["model"].replace("--", "/") if named else None
        require_model(settings.model or model, source.name)
        has_plus = any(_has_plus(entries) for entries in tasks.values())
        specs = [_passed(BASE, not has_plus)]
        if has_plus:
            specs.append(_passed(PLUS, True))
        header = RunHeader(
            harness="evalplus",
            model=model or "",
            benchmark=_benchmark(tasks),
            dataset_revision=text_or_none(document.get("hash")),
            temperature=float(named["temperature"]) if named else None,
            sampling=_options(named) if named else {},
            metrics=tuple(specs),
            configuration={
                name: value
                for name, value in document.items()
                if name not in _READ_ELSEWHERE
            },
            place=path.name,
        )
        dump = Dump((header,), ())
        raw = _raw(source.files[1:], dump)
        items = (
            (f"task {name[:100]}", (name, entries)) for name, entries in tasks.items()
        )
        dump.batches = batches_of(
            items,
            lambda item: _rows(item[0], item[1], has_plus, raw, dump.notes),
            dump.rejections,
            "verdicts as EvalPlus writes them",
        )
        return dump


def _options(named: re.Match[str]) -> Row:
    """Options in a file's name besides model and temperature."""
    sanitized = None
    if named["sanitized"]:
        sanitized = True
    return without_nulls(
        {
            "backend": named["backend"],
            "sanitized": sanitized,
            "name_part": named["rest"],
        }
    )


def _rows(
    task: str,
    entries: Any,
    has_plus: bool,
    raw: Mapping[str, Sequence[str | None]],
    notes: list[str],
) -> Iterator[Row]:
    if not task.strip():
        raise ValueError("a task without name")
    attempts = _attempts(entries)
    texts = _paired(attempts, raw.get(task, []), task, notes)
    for draw, entry in enumerate(attempts):
        base = _status(entry, "base_status")
        plus = _status(entry, "plus_status")
        scores = [_score(BASE, base)]
        if has_plus:  # both must pass
            scores.append(_score(PLUS, plus if base == "pass" else base))
        solution = entry.get("solution")
        code = string_or_none(solution)
        failures = {
            key: entry[key]
            for key in (
                "base_status",
                "plus_status",
                "base_fail_tests",
                "plus_fail_tests",
            )
            if entry.get(key) not in (None, [], "pass")
        }
        yield {
            "run": 0,
            "prompt_id": task,
            "draw": draw,
            "response": code if texts[draw] is None else texts[draw],
            "extracted_answer": code,
            "explanation": compact_or_none(failures),
            "scores": scores,
        }
    for draw, text in enumerate(texts[len(attempts) :], start=len(attempts)):
        names = (BASE, PLUS) if has_plus else (BASE,)
        yield {
            "run": 0,
            "prompt_id": task,
            "draw": draw,
            "response": text,
            "scores": [_score(name, None) for name in names],
        }


def _paired(
    attempts: Sequence[Row], texts: Sequence[str | None], task: str, notes: list[str]
) -> list[str | None]:
    """The generation behind each attempt, then those that no attempt is of. Where there
    are more of them than attempts, one that holds the program of an attempt is taken
    for its own."""
    if len(texts) <= len(attempts):
        if 0 < len(texts) < len(attempts):
            counts = f"{len(texts)} generations and {len(attempts)} verdicts"
            notes.append(f"task {task[:100]}: {counts}: they are paired in order")
        return [*texts, *[None] * (len(attempts) - len(texts))]
    left = list(texts)
    paired: list[str | None] = []
    for entry in attempts:
        program = str(entry.get("solution") or "").strip()
        own = next(
            (text for text in left if text and program and program in text), None
        )
        if own is not None:
            left.remove(own)
        paired.append(own)
    notes.append(
        f"task {task[:100]}: {len(texts)} generations and {len(attempts)} verdicts: "
        f"each verdict is of the generation with its program, {len(left)} are unscored"
    )
    return paired + [text for text in left if text is not None]


def _attempts(entries: Any) -> list[Row]:
    """Attempts of a task; older files hold lists of status and details by kind of
    tests."""
    if isinstance(entries, dict) and BASE in entries:
        base = list_of(entries, BASE)
        plus = list_of(entries, PLUS)
        entries = [
            {
                "base_status": _first(item_at(base, draw)),
                "plus_status": _first(item_at(plus, draw)),
            }
            for draw in range(max(len(base), len(plus)))
        ]
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) for entry in entries
    ):
        raise ValueError(f"no list of verdicts: {compact(entries)[:100]}")
    return entries


def _first(pair: Any) -> Any:
    if isinstance(pair, list) and pair:
        return pair[0]
    return pair


def _has_plus(entries: Any) -> bool:
    try:
        return any(entry.get("plus_status") is not None for entry in _attempts(entries))
    except ValueError:
        return False


def _status(entry: Row, key: str) -> str | None:
    status = _first(entry.get(key))
    if status is None:
        return None
    if status not in STATUSES:
        raise ValueError(
            f"{key} is {compact(status)[:60]}, none of {', '.join(STATUSES)}"
        )
    return str(status)


def _score(tests: str, status: str | None) -> Row:
    if status is None:
        value = None
    else:
        value = float(status == "pass")
    raw = None
    if status == "timeout":
        raw = status
    return {
        "metric": METRIC,
        "filter": tests,
        "value": value,
        "raw": raw,
    }


def _benchmark(tasks: Mapping[str, Any]) -> str:
    """``HumanEval/0`` is a task of ``humaneval``."""
    first = next(iter(tasks), "")
    if "/" in first:
        return first.partition("/")[0].lower()
    return "evalplus"


def _raw(files: Sequence[Path], dump: Dump) -> dict[str, list[str | None]]:
    """Texts of the model by task, in order; None where a line holds no text."""
    texts_by_task: dict[str, list[str | None]] = {}
    for path in files:
        for _, row in RowSource(
            path, path.name, ("task_id",), notes=dump.notes
        ).numbered():
            task = str(row["task_id"])
            text = row.get("solution", row.get("completion"))
            texts_by_task.setdefault(task, []).append(string_or_none(text))
    return texts_by_task


#: Fields of a completion and of its task.
_OF_COMPLETIONS = (
    "task_id",
    "completion",
    "completion_id",
    "result",
    "passed",
    "prompt",
    "entry_point",
    "test",
)
#: What its script calls the files of any run.
_SAMPLES = re.compile(
    r"(?:^|(?<=[-_.]))(?:samples?|completions?|generations?|results?)(?:[-_.]\d+)?(?=[-_.]|$)"
)


def _given_name(path: Path) -> str | None:
    """The name that a person gave a file; ``None`` where it is what every file is
    called.

    >>> _given_name(Path("samples.jsonl_results.jsonl")), _given_name(Path("t0.8_samples.jsonl_results.jsonl"))
    (None, 't0.8')
    """
    stem = (
        path.name.removesuffix(".gz")
        .removesuffix("_results.jsonl")
        .removesuffix(".jsonl")
    )
    return _SAMPLES.sub("", stem).strip("-_.") or None


def _said_of_all(path: Path) -> Row:
    """Fields that all completions of a file have besides those that its script
    writes."""
    same = SameInAll(_OF_COMPLETIONS)
    for row, _ in RowSource(path, path.name, ("task_id",)).rows():
        same.add(path, row)
    return same.of(path)


class HumanEval:
    """``samples.jsonl_results.jsonl``: a line for each completion with its verdict."""

    name = "human_eval"
    version = "2"  # 2: the name of the file, the only place of any setting
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each file is a source."""
        for item in candidates:
            first = head_of(item).partition("\n")[0]
            if first.startswith("{") and has_keys(
                first, "task_id", "completion", "result", "passed"
            ):
                yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one file (InputError: it is damaged, or the model, which no such file
        names, is not stated)."""
        path = source.files[0]
        require_model(settings.model, source.name)
        header = RunHeader(
            harness="human-eval",
            model="",
            benchmark="humaneval",
            metrics=(_passed("", True),),
            configuration={
                **_said_of_all(path),
                **without_nulls({"name": _given_name(path)}),
            },
            place=path.name,
        )
        dump = Dump((header,), ())
        lines = RowSource(path, path.name, ("task_id",), dump.rejections, dump.notes)
        counts: dict[str, int] = {}
        dump.batches = batches_of(
            lines.located(),
            lambda row: [_completion(row, counts)],
            dump.rejections,
            "a completion with its verdict",
        )
        return dump


def _completion(row: Row, counts: dict[str, int]) -> Row:
    task = required_text(row, "task_id")
    value = verdict(row.get("passed"), "passed")
    result = text_or_none(row.get("result"))
    draw = counts.get(task, 0)
    counts[task] = draw + 1
    completion = row.get("completion")
    explanation = result
    if result == "passed":
        explanation = None
    raw = None
    if result == "timed out":
        raw = result
    return {
        "run": 0,
        "prompt_id": task,
        "draw": draw,
        "response": string_or_none(completion),
        "explanation": explanation,
        "scores": [
            {
                "metric": METRIC,
                "value": value,
                "raw": raw,
            }
        ],
    }


EVALPLUS = EvalPlus()
HUMAN_EVAL = HumanEval()
