"""A mapping: the rules that its file consists of, made of the parsed TOML with every
mistake in it.

docs/reference/mapping_language.md is the reference of the language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, get_args

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.expressions import (
    placeholders,
)
from warehouse.importers.tabular.field_paths import (
    Each,
    FieldPath,
    PathError,
    Special,
    parse_path,
)
from warehouse.importers.tabular.mapping_expressions import Expressions
from warehouse.importers.tabular.mapping_files import Section
from warehouse.importers.tabular.mapping_rules import (
    JoinRule,
    SkipRule,
    TabularMapping,
)
from warehouse.importers.tabular.mapping_variants import parse_variants
from warehouse.importers.tabular.readers import ORIENTATIONS, MatrixRule, ReadingRules
from warehouse.records import Link, MetricKind

#: What a mapping calls their format.
TEXT = "text"
#: What their lines are found by: their number from 0, or from 1.
NUMBERS = ("@index", "@line")


_NUMBER = (int, float)
#: Keys of ``[metrics.NAME]`` and what they take.
SPEC_FIELDS: dict[str, Any] = {
    "scorer": str,
    "scorer_kind": str,
    "judge_model": str,
    "scorer_parameters": dict,
    "unit": str,
    "link": str,
    "kind": str,
    "low": _NUMBER,
    "high": _NUMBER,
    "higher_is_better": bool,
    "chance_level": _NUMBER,
    "is_default": bool,
}
_SPEC_WORDS = {
    "link": get_args(Link),
    "kind": get_args(MetricKind),
    "scorer_kind": ("match", "model", "execution", "human"),
}
_FORMATS = ("csv", "tsv", "json", "jsonl", "parquet", "xlsx", "sqlite")


def parse_mapping(values: Mapping[str, Any]) -> tuple[TabularMapping, list[str]]:
    """A mapping from parsed TOML, and every mistake that shows without looking at a
    dump."""
    text = repr(values)
    parsed = _PARSED.get(text)
    if parsed is None:
        if len(_PARSED) == _MOST_PARSED:
            _PARSED.clear()
        parsed = _PARSED[text] = _parse(deepcopy(values))
    mapping, mistakes = parsed
    return mapping, list(mistakes)


#: Mappings by their values as text: each of many small tables brings the same.
_PARSED: dict[str, tuple[TabularMapping, tuple[str, ...]]] = {}
_MOST_PARSED = 16


def _parse(values: Mapping[str, Any]) -> tuple[TabularMapping, tuple[str, ...]]:
    mistakes: list[str] = []
    top = Section(values, "", mistakes)
    top.text("description")
    pattern = top.table("path")
    compiled = pattern.patterns("pattern")
    pattern.close()
    groups = list(chain.from_iterable(layout.groupindex for layout in compiled))
    expressions = Expressions(groups, mistakes)
    rows = top.table("rows")
    archive = top.table("archive")
    rules = _reading_rules(top, rows)
    matrix = _matrix(top)
    mapping = TabularMapping(
        files=top.texts("files"),
        exclude=top.texts("exclude"),
        together=bool(top.take("together", bool, False)),
        members=archive.texts("members"),
        rules=rules,
        patterns=compiled,
        nulls=top.nulls("null"),
        columns=top.texts("columns"),
        constants=top.texts("constants"),
        key=top.texts("key"),
        skips=tuple(_skips(rows, expressions)),
        joins=tuple(_joins(top.table("join"), expressions)),
        matrix=matrix,
        variants=parse_variants(top, expressions, matrix),
        metrics=_metrics(top.table("metrics")),
    )
    undecided = list(_undecided(top.take("choose", list, [])))
    for section in (rows, archive, top):
        section.close()
    return mapping, tuple(
        dict.fromkeys(mistakes + (undecided or _contradictions(mapping)))
    )


def _reading_rules(top: Section, rows: Section) -> ReadingRules:
    table = top.table("table")
    format = _chosen_format(top, _FORMATS)
    delimiter = table.text("delimiter")
    if len(delimiter) > 1:
        top.mistakes.append(
            f"[table] delimiter = {delimiter!r}: expected one character"
        )
    rules = ReadingRules(
        format=format,
        delimiter=delimiter[:1],
        quoting=table.take("quoting", bool),
        header=bool(table.take("header", bool, True)),
        at=_path(rows, "at"),
        draws=_path(rows, "draws", iterates=True),
        table=_table_name(table),
    )
    table.close()
    return rules


def _table_name(section: Section) -> str:
    """The sheet or table that a mapping names."""
    sheet = section.text("sheet")
    table = section.text("table")
    if sheet and table:
        section.mistakes.append(
            "[table] sheet, table: expected one of them (sheet of a spreadsheet, table "
            "of a database)"
        )
    return sheet or table


def _path(section: Section, key: str, iterates: bool = False) -> FieldPath | None:
    """A path to rows: down from the top, by names, numbers, ``[]`` and ``{}`` only."""
    text = section.text(key)
    try:
        path = parse_path(text.removeprefix("$.").removeprefix("$"))
    except PathError as error:
        section.mistakes.append(f"{section.where} {key}: {error}")
        return None
    goes_down = path.root == "row" and not path.up
    each = [step for step in path.steps if isinstance(step, Each)]
    if not goes_down or any(isinstance(step, Special) for step in path.steps):
        section.mistakes.append(
            f"{section.where} {key} = {text!r}: expected a path like a.b[]"
        )
    elif text and iterates and not each:
        section.mistakes.append(
            f"{section.where} {key} = {text!r}: expected a path with [] or {{}}"
        )
    elif path.steps:
        return path
    return None


def _skips(rows: Section, expressions: Expressions) -> Iterator[SkipRule]:
    for section in rows.tables("skip"):
        section.where = section.where.replace("[[", "[[rows.")
        yield SkipRule(
            expressions.value(section.text("path"), f"{section.where} path"),
            section.pattern("matching"),
            section.pattern("not_matching"),
            section.texts("equal_to"),
            bool(section.take("null", bool, False)),
        )
        section.close()


def _joins(joins: Section, expressions: Expressions) -> Iterator[JoinRule]:
    for name in list(joins.values):
        section = joins.table(name)
        reading = ReadingRules(
            format=_chosen_format(section, (*_FORMATS, TEXT)), at=_path(section, "at")
        )
        rule = JoinRule(
            name,
            section.text("file"),
            reading,
            section.text("key", NUMBERS[0] if reading.format == TEXT else ""),
            section.text("on"),
            bool(section.take("optional", bool, False)),
        )
        section.close()
        for group in set(placeholders(rule.file)) - expressions.groups:
            joins.mistakes.append(
                f"[join.{name}] file = {rule.file!r}: no group {group!r} in [path] "
                f"pattern; groups: {listed(sorted(expressions.groups)) or 'none'}"
            )
        if not rule.file or bool(rule.key) != bool(rule.on):
            joins.mistakes.append(
                f"[join.{name}]: expected `file`, and `key` together with `on`"
            )
        if reading.format == TEXT and rule.key not in NUMBERS:
            joins.mistakes.append(
                f"[join.{name}] key = {rule.key!r}: of lines of text expected one of "
                f"{listed(NUMBERS)}"
            )
        yield rule


def _chosen_format(section: Section, formats: Sequence[str]) -> str:
    chosen = section.text("format")
    if chosen in ("", *formats):
        return chosen
    section.mistakes.append(
        f"{section.where} format = {chosen!r}: expected one of {listed(formats)}".strip()
    )
    return ""


def _matrix(top: Section) -> MatrixRule | None:
    given = "matrix" in top.values
    section = top.table("matrix")
    rule = MatrixRule(
        section.text("label"),
        section.pattern("cells", whole=True),
        section.text("orientation"),
    )
    if rule.orientation and rule.orientation not in ORIENTATIONS:
        top.mistakes.append(
            f"[matrix] orientation = {rule.orientation!r}: expected one of "
            f"{listed(ORIENTATIONS)}"
        )
    section.close()
    if given:
        return rule
    return None


def _metrics(section: Section) -> dict[str, dict[str, Any]]:
    specs: dict[str, dict[str, Any]] = {}
    for name in list(section.values):
        spec = section.table(name)
        specs[name] = {
            key: spec.take(key, kind)
            for key, kind in SPEC_FIELDS.items()
            if key in spec.values
        }
        spec.keys = list(SPEC_FIELDS)
        spec.close()
        for key, allowed in _SPEC_WORDS.items():
            if specs[name].get(key, allowed[0]) not in allowed:
                section.mistakes.append(
                    f"{spec.where} {key} = {specs[name][key]!r}: expected one of "
                    f"{listed(allowed)}"
                )
    return specs


def _undecided(tables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The mistake of each ``[[choose]]`` that is left in a mapping."""
    for table in tables:
        line = ""
        if "line" in table:
            line = f"line {table['line']}: "
        readings = [
            f"({number}) {reading}"
            for number, reading in enumerate(table.get("between", ()), 1)
        ]
        yield (
            f"{line}[[choose]] {table.get('what', 'something')} is not decided: "
            f"{listed(readings, 8)}; write one of these into the mapping, as the "
            "comments there show, and delete this [[choose]]"
        )


def _contradictions(mapping: TabularMapping) -> list[str]:
    contradictions = []
    for variant in mapping.variants:
        if not variant.has_samples and not variant.published and not variant.votes:
            contradictions.append(
                "expected [[scores]], [choice_scores], [[published]], [votes] or "
                "[matrix]"
            )
        if variant.votes and (variant.has_samples or variant.published):
            contradictions.append(
                "[votes] stands alone: what else its rows hold takes a mapping of its "
                "own"
            )
        mapped = [*variant.sample, *variant.metadata]
        for name in mapping.key:
            if name not in mapped:
                contradictions.append(
                    f"key: {name!r} is not mapped in [sample] or [metadata]; mapped: "
                    f"{listed(mapped) or 'none'}"
                )
        if (
            variant.has_samples
            and variant.is_long
            and not mapping.key
            and not {"prompt_id", "position"} & {*variant.sample}
        ):
            contradictions.append(
                "nothing says which prompt a row is about: rows of several runs or "
                "generations stand below each other, so map [sample] prompt_id (or "
                "position), or name `key`"
            )
    return contradictions
