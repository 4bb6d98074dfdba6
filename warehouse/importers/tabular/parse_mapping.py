"""From the parsed TOML of a mapping file to a :class:`TabularMapping`, with every mistake in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.expressions import placeholders
from warehouse.importers.tabular.field_paths import Each, FieldPath, PathError, Special, parse_path
from warehouse.importers.tabular.mapping import JoinRule, SkipRule, TabularMapping
from warehouse.importers.tabular.matrix_reader import ORIENTATIONS, MatrixRule
from warehouse.importers.tabular.parse_variants import parse_variants
from warehouse.importers.tabular.readers import ReadingRules
from warehouse.importers.tabular.sections import Expressions, Section
from warehouse.importers.tabular.starting_choices import undecided
from warehouse.importers.tabular.table import NUMBERS, TEXT
from warehouse.records import Link, MetricKind

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
_FORMATS = ("csv", "tsv", "json", "jsonl", "parquet")


def parse_mapping(values: Mapping[str, Any], place: str) -> tuple[TabularMapping, list[str]]:
    """A mapping from parsed TOML, and every mistake that shows without looking at a dump."""
    mistakes: list[str] = []
    top = Section(values, "", mistakes)
    top.text("description")
    pattern = top.table("path")
    compiled = pattern.patterns("pattern")
    pattern.close()
    groups = [name for layout in compiled for name in layout.groupindex]
    expressions = Expressions(groups, mistakes)
    rows, archive = top.table("rows"), top.table("archive")
    rules = _reading_rules(top, rows)
    matrix = _matrix(top)
    mapping = TabularMapping(
        place=place,
        files=top.texts("files"),
        exclude=top.texts("exclude"),
        together=bool(top.take("together", bool, False)),
        members=archive.texts("members"),
        rules=rules,
        patterns=compiled,
        nulls=frozenset(top.texts("null")),
        key=top.texts("key"),
        skips=_skips(rows, expressions),
        joins=_joins(top.table("join"), expressions),
        matrix=matrix,
        variants=parse_variants(top, expressions, matrix),
        metrics=_metrics(top.table("metrics")),
    )
    open_choices = list(undecided(top.take("choose", list, [])))
    for section in (rows, archive, top):
        section.close()
    further = open_choices or _contradictions(mapping)
    return mapping, list(dict.fromkeys(mistakes + further))


def _reading_rules(top: Section, rows: Section) -> ReadingRules:
    table = top.table("table")
    chosen = top.text("format")
    if chosen and chosen not in _FORMATS:
        top.mistakes.append(f"format = {chosen!r}: expected one of {listed(_FORMATS)}")
    delimiter = table.text("delimiter")
    if len(delimiter) > 1:
        top.mistakes.append(f"[table] delimiter = {delimiter!r}: expected one character")
    rules = ReadingRules(
        format=chosen if chosen in _FORMATS else "",
        delimiter=delimiter[:1],
        quoting=table.take("quoting", bool),
        header=bool(table.take("header", bool, True)),
        at=_path(rows, "at"),
        draws=_path(rows, "draws", iterates=True),
    )
    table.close()
    return rules


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
        section.mistakes.append(f"{section.where} {key} = {text!r}: expected a path like a.b[]")
    elif text and iterates and not each:
        section.mistakes.append(f"{section.where} {key} = {text!r}: expected a path with [] or {{}}")
    elif path.steps:
        return path
    return None


def _skips(rows: Section, expressions: Expressions) -> tuple[SkipRule, ...]:
    rules = []
    for section in rows.tables("skip"):
        section.where = section.where.replace("[[", "[[rows.")
        rules.append(
            SkipRule(
                expressions.value(section.text("path"), f"{section.where} path"),
                section.pattern("matching"),
                section.pattern("not_matching"),
                section.texts("equal_to"),
                bool(section.take("null", bool, False)),
            )
        )
        section.close()
    return tuple(rules)


def _joins(joins: Section, expressions: Expressions) -> tuple[JoinRule, ...]:
    rules = []
    for name in list(joins.values):
        section = joins.table(name)
        reading = ReadingRules(format=_join_format(section), at=_path(section, "at"))
        rule = JoinRule(
            name,
            section.text("file"),
            reading,
            section.text("key", NUMBERS[0] if reading.format == TEXT else ""),
            section.text("on"),
            bool(section.take("optional", bool, False)),
        )
        section.close()
        rules.append(rule)
        for group in set(placeholders(rule.file)) - expressions.groups:
            joins.mistakes.append(
                f"[join.{name}] file = {rule.file!r}: no group {group!r} in [path] pattern; "
                f"groups: {listed(sorted(expressions.groups)) or 'none'}"
            )
        if not rule.file or bool(rule.key) != bool(rule.on):
            joins.mistakes.append(f"[join.{name}]: expected `file`, and `key` together with `on`")
        if reading.format == TEXT and rule.key not in NUMBERS:
            joins.mistakes.append(
                f"[join.{name}] key = {rule.key!r}: of lines of text expected one of {listed(NUMBERS)}"
            )
    return tuple(rules)


def _join_format(section: Section) -> str:
    chosen = section.text("format")
    if chosen in ("", TEXT, *_FORMATS):
        return chosen
    section.mistakes.append(f"{section.where} format = {chosen!r}: expected one of {listed((*_FORMATS, TEXT))}")
    return ""


def _matrix(top: Section) -> MatrixRule | None:
    given = "matrix" in top.values
    section = top.table("matrix")
    rule = MatrixRule(section.text("label"), section.pattern("cells", whole=True), section.text("orientation"))
    if rule.orientation and rule.orientation not in ORIENTATIONS:
        top.mistakes.append(f"[matrix] orientation = {rule.orientation!r}: expected one of {listed(ORIENTATIONS)}")
    section.close()
    return rule if given else None


def _metrics(section: Section) -> dict[str, dict[str, Any]]:
    specs: dict[str, dict[str, Any]] = {}
    for name in list(section.values):
        spec = section.table(name)
        specs[name] = {key: spec.take(key, kind) for key, kind in SPEC_FIELDS.items() if key in spec.values}
        spec.known = list(SPEC_FIELDS)
        spec.close()
        for key, allowed in _SPEC_WORDS.items():
            if specs[name].get(key, allowed[0]) not in allowed:
                section.mistakes.append(f"{spec.where} {key} = {specs[name][key]!r}: expected one of {listed(allowed)}")
    return specs


def _contradictions(mapping: TabularMapping) -> list[str]:
    contradictions = []
    for variant in mapping.variants:
        nothing = not variant.has_samples and not variant.published
        if nothing:
            contradictions.append("expected [[scores]], [choice_scores], [[published]] or [matrix]")
        unknown = [k for k in mapping.key if k not in variant.sample and k not in variant.metadata]
        for name in unknown:
            mapped = listed([*variant.sample, *variant.metadata]) or "none"
            contradictions.append(f"key: {name!r} is not mapped in [sample] or [metadata]; mapped: {mapped}")
        named = {"prompt_id", "position"} & {*variant.sample}
        if variant.has_samples and variant.is_long and not named and not mapping.key:
            contradictions.append(
                "nothing says which prompt a row is about: rows of several runs or generations "
                "stand below each other, so map [sample] prompt_id (or position), or name `key`"
            )
    return contradictions
