"""From the parsed TOML of a mapping file to a :class:`TabularMapping`, with every mistake in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from warehouse.importers.tabular_mapping import JoinRule, SkipRule, TabularMapping
from warehouse.importers.tabular_matrix import ORIENTATIONS, MatrixRule
from warehouse.importers.tabular_paths import FieldPath, PathError, parse_path
from warehouse.importers.tabular_readers import ReadingRules
from warehouse.importers.tabular_sections import Expressions, Section, listed
from warehouse.importers.tabular_variants import parse_variants
from warehouse.records import Link, MetricKind, MetricSpec

_SPEC_FIELDS = tuple(
    item.name for item in fields(MetricSpec) if item.name not in ("name", "filter")
)
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
    compiled = pattern.pattern("pattern")
    pattern.close()
    expressions = Expressions(compiled.groupindex if compiled else (), mistakes)
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
        pattern=compiled,
        nulls=frozenset(top.texts("null")),
        key=top.texts("key"),
        skips=_skips(rows, expressions),
        joins=_joins(top.table("join")),
        matrix=matrix,
        variants=parse_variants(top, expressions, matrix),
        metrics=_metrics(top.table("metrics")),
    )
    for section in (rows, archive, top):
        section.close()
    return mapping, list(dict.fromkeys(mistakes + _contradictions(mapping)))


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
        at=_path(rows, "at"),
        draws=_path(rows, "draws"),
    )
    table.close()
    return rules


def _path(section: Section, key: str) -> FieldPath | None:
    text = section.text(key)
    try:
        return parse_path(text.removeprefix("$.").removeprefix("$")) if text else None
    except PathError as error:
        section.mistakes.append(f"{section.where} {key}: {error}")
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


def _joins(joins: Section) -> tuple[JoinRule, ...]:
    rules = []
    for name in list(joins.values):
        section = joins.table(name)
        reading = ReadingRules(format=section.text("format"), at=_path(section, "at"))
        rule = JoinRule(
            name,
            section.text("file"),
            reading,
            section.text("key"),
            section.text("on"),
            bool(section.take("optional", bool, False)),
        )
        section.close()
        rules.append(rule)
        if not rule.file or bool(rule.key) != bool(rule.on):
            joins.mistakes.append(f"[join.{name}]: expected `file`, and `key` together with `on`")
    return tuple(rules)


def _matrix(top: Section) -> MatrixRule | None:
    given = "matrix" in top.values
    section = top.table("matrix")
    rule = MatrixRule(section.text("label"), section.pattern("cells"), section.text("orientation"))
    if rule.orientation and rule.orientation not in ORIENTATIONS:
        top.mistakes.append(
            f"[matrix] orientation = {rule.orientation!r}: expected one of {listed(ORIENTATIONS)}"
        )
    section.close()
    return rule if given else None


def _metrics(section: Section) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name in list(section.values):
        spec = section.table(name)
        found[name] = {key: spec.anything(key) for key in _SPEC_FIELDS if key in spec.values}
        spec.known = list(_SPEC_FIELDS)
        spec.close()
        for key, allowed in _SPEC_WORDS.items():
            if found[name].get(key, allowed[0]) not in allowed:
                section.mistakes.append(
                    f"{spec.where} {key} = {found[name][key]!r}: expected one of {listed(allowed)}"
                )
    return found


def _contradictions(mapping: TabularMapping) -> list[str]:
    found = []
    for variant in mapping.variants:
        nothing = not variant.has_samples and not variant.published
        if nothing:
            found.append("expected [[scores]], [choice_scores], [[published]] or [matrix]")
        unknown = [k for k in mapping.key if k not in variant.sample and k not in variant.metadata]
        for name in unknown:
            mapped = listed([*variant.sample, *variant.metadata]) or "none"
            found.append(f"key: {name!r} is not mapped in [sample] or [metadata]; mapped: {mapped}")
        named = {"prompt_id", "position"} & {*variant.sample}
        if variant.has_samples and variant.is_long and not named and not mapping.key:
            found.append(
                "nothing says which prompt a row is about: rows of several runs or generations "
                "stand below each other, so map [sample] prompt_id (or position), or name `key`"
            )
    return found
