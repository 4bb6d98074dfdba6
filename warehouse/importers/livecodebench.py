"""Importer of evaluated generations of LiveCodeBench (``…_eval_all.json``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from warehouse.importers.base import binary_metric, source_of
from warehouse.importers.common.json_fields import (
    Row,
    as_text,
    as_text_or_none,
    compact,
    item_at,
    items_of,
    list_of,
    number_or_none,
    part_of,
    require_model,
    required_text,
    text_or_none,
    verdict,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    batches_of,
    has_keys,
    head_of,
    read_document,
)
from warehouse.importers.common.model_names import is_fixed_name
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = SUITE = "livecodebench"
METRIC = "pass@1"

# Scenario.codegeneration_10_0.2_eval_all.json   scenario, generations, temperature;
# newer files without "Scenario."
_NAME = re.compile(
    r"(?P<prefix>Scenario\.)?(?P<scenario>[a-z]+)(?P<before>(?:_[a-z]\w*?)?)_\d+_(?P<temperature>\d+(?:\.\d+)?)"
    r"(?P<after>(?:_[\w.]+?)?)_eval_all\.json"
)
#: Parts of the name that are options of the tool: chain of thought, generations that a
#: repair begins from.
_COT = re.compile(r"_cot(?=_|$)")
_CODEGEN = re.compile(r"_codegen_?(\d+)(?=_|$)")
_RATE = re.compile(r"pass@[1-9]\d{0,6}")
#: Lists with an item for each generation, and figures made of them.
_PER_DRAW = (
    "output_list",
    "code_list",
    "pred_list",
    "graded_list",
    "metadata",
    METRIC,
    "pass1",
)

PASSED = binary_metric(METRIC, scorer_kind="execution", is_default=True)


class LiveCodeBench:
    """A list of problems with generations, programs and verdicts; the model is the
    folder."""

    name = "livecodebench"
    version = "2"  # 2: options in the file's name; figures over no problem are none
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each ``_eval_all.json`` is a source, with the ``_eval.json`` beside it."""
        paths = {item.path for item in candidates}
        for item in candidates:
            head = head_of(item)
            name = _NAME.fullmatch(item.path.name)
            named = (
                name is not None
                and name["prefix"] is not None
                and head[:1] in ("[", "")
            )
            if not named and not (
                head.startswith("[") and has_keys(head, "graded_list")
            ):
                continue
            figures = item.path.with_name(
                item.path.name.replace("_eval_all.json", "_eval.json")
            )
            others = (figures,) if figures in paths and figures != item.path else ()
            yield source_of(item.path, *others)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one file (InputError: a file is damaged, or nothing names the model)."""
        path = source.files[0]
        named = _NAME.fullmatch(path.name)
        folder = path.absolute().parent.name
        model = None
        if named and not is_fixed_name(folder):
            model = folder
        require_model(settings.model or model, source.name)
        scenario = "codegeneration"
        if named:
            scenario = named["scenario"]
        temperature = None
        if named:
            temperature = float(named["temperature"])
        header = RunHeader(
            harness=HARNESS,
            model=model or "",
            benchmark=f"{SUITE}_{scenario}",
            suite=(SUITE,),
            temperature=temperature,
            metrics=(PASSED,),
            configuration=_options(named["before"] + named["after"]) if named else {},
            published=tuple(_published(source.files[1:])),
            place=path.name,
        )
        dump = Dump((header,), ())
        lines = RowSource(
            path, path.name, ("graded_list",), dump.rejections, dump.notes
        )
        items = (
            (location, (index, row))
            for index, (location, row) in enumerate(lines.located())
        )
        rows_of = partial(_rows, dump.notes)
        dump.batches = batches_of(
            items, rows_of, dump.rejections, "a problem as LiveCodeBench writes it"
        )
        return dump


def _options(part: str) -> Row:
    """Options in a file's name other than scenario and temperature; what is not known,
    as it stands.

    >>> _options("_cot"), _options("_codegen_10"), _options("_topp0.95")
    ({'cot_code_execution': True}, {'codegen_n': 10}, {'name_part': 'topp0.95'})
    """
    options: Row = {}
    if _COT.search(part):
        options["cot_code_execution"] = True
    if count := _CODEGEN.search(part):
        options["codegen_n"] = int(count[1])
    rest = _COT.sub("", _CODEGEN.sub("", part)).strip("_")
    if rest:
        options["name_part"] = rest
    return options


def _published(files: Sequence[Path]) -> Iterator[PublishedScore]:
    """``[{"pass@1": 0.5, "detail": …}, results, metadata]``"""
    for path in files:
        document = read_document(path, list)
        figures = {}
        if document and isinstance(document[0], dict):
            figures = document[0]
        details = part_of(figures, "detail")
        for name, value in figures.items():
            if details.get(name) == {}:
                continue  # the share of no problem
            if _RATE.fullmatch(name) and number_or_none(value) is not None:
                statistic = name
                if name == METRIC:
                    statistic = "mean"
                yield PublishedScore(METRIC, number_or_none(value), statistic=statistic)


def _rows(notes: list[str], item: tuple[int, Row]) -> Iterator[Row]:
    index, problem = item
    question = text_or_none(problem.get("question_content"))
    document = {key: value for key, value in problem.items() if key not in _PER_DRAW}
    prompt = {
        "run": 0,
        "position": index,
        "prompt_id": _identifier(problem),
        "identity": compact(_identity(problem)) if question else None,
        "text": question,
        "metadata": compact(document),
    }
    graded = list_of(problem, "graded_list")
    programs = list_of(problem, "code_list") or list_of(problem, "pred_list")
    outputs = list_of(problem, "output_list")
    verdicts = items_of(problem.get("metadata"))
    values = [verdict(value, "graded_list") for value in graded]
    _check_rate(problem, values, notes)
    counts = {len(values) for values in (graded, outputs, programs) if values}
    if len(counts) > 1:
        notes.append(
            f"{_identifier(problem)}: {len(outputs)} outputs, {len(programs)} programs "
            f"and {len(graded)} verdicts: they are paired in order, what has no "
            "verdict is unscored"
        )
    for draw in range(max(len(graded), len(outputs), len(programs))):
        output = item_at(outputs, draw)
        program = item_at(programs, draw)
        value = item_at(values, draw)
        unanswered = value == 0 and program is not None and not as_text(program).strip()
        verdict_text = item_at(verdicts, draw)
        yield {
            **prompt,
            "draw": draw,
            "response": as_text_or_none(output),
            "extracted_answer": as_text_or_none(program),
            "explanation": as_text_or_none(verdict_text),
            "scores": [
                {
                    "metric": METRIC,
                    "value": value,
                    "status": "no_answer" if unanswered else None,
                }
            ],
        }


def _identifier(problem: Row) -> str:
    """Id of a problem; scenarios that ask several things of it number them."""
    key = "id"
    if problem.get("question_id") is not None:
        key = "question_id"
    part = problem.get("test_id")
    name = required_text(problem, key)
    if part is None:
        return name
    return f"{name}/{as_text(part)}"


def _identity(problem: Row) -> Row:
    keys = ("question_content", "starter_code", "test_id", "code", "input")
    return {key: problem[key] for key in keys if problem.get(key) is not None}


def _check_rate(problem: Row, values: list[float | None], notes: list[str]) -> None:
    rate = number_or_none(problem.get(METRIC, problem.get("pass1")))
    graded = [value for value in values if value is not None]
    if rate is None or not graded:
        return
    mean = sum(graded) / len(graded)
    if abs(rate - mean) > 1e-9:
        notes.append(
            f"{_identifier(problem)}: states {METRIC} {rate}, its verdicts give "
            f"{mean:.6g}: the verdicts are taken"
        )


IMPORTER = LiveCodeBench()
