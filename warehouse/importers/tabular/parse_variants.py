"""What a mapping says of runs, samples and scores, by variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warehouse.importers.common.messages import listed, similar
from warehouse.importers.tabular.expressions import At, Group, Literal, Source
from warehouse.importers.tabular.mapping import (
    LIST_FIELDS,
    RECORD_FIELDS,
    RUN_FIELDS,
    SAMPLE_FIELDS,
    AgreementRule,
    ChoiceRule,
    PublishedRule,
    ScoreRule,
    Variant,
)
from warehouse.importers.tabular.matrix_reader import ORIENTATIONS, MatrixRule
from warehouse.importers.tabular.sections import Expressions, Section
from warehouse.records import SCORE_STATUSES

_CHOICE_FIELDS = ("loglikelihood", "unconditional_loglikelihood", "is_greedy", "n_tokens", "n_bytes")
_AGREEMENTS = ("compare_with", "must_equal")
_EXPANDED = ("run", "sample", "metadata", "scores", "choice_scores", "published")


def parse_variants(top: Section, expressions: Expressions, matrix: MatrixRule | None) -> tuple[Variant, ...]:
    each = top.take("each", dict, {})
    template = {name: top.anything(name) for name in _EXPANDED}
    lengths = {len(values) if isinstance(values, list) else 0 for values in each.values()}
    if each and (len(lengths) != 1 or lengths == {0}):
        top.mistakes.append("[each]: expected lists of one length, not empty")
        each = {}
    rounds = [dict(zip(each, row, strict=True)) for row in zip(*each.values(), strict=True)]
    return tuple(_variant(_filled_in(template, row), expressions, matrix) for row in rounds or [{}])


def _filled_in(value: Any, words: Mapping[str, Any]) -> Any:
    """The value with ``{name}`` replaced in every text."""
    if isinstance(value, dict):
        return {key: _filled_in(part, words) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled_in(part, words) for part in value]
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace("{" + name + "}", str(word))
    return value


def _variant(template: Mapping[str, Any], expressions: Expressions, matrix: MatrixRule | None) -> Variant:
    top = Section({k: v for k, v in template.items() if v is not None}, "", expressions.mistakes)
    section = top.table("run")
    agreements = _agreements(section, expressions)
    run = _fields(section, RUN_FIELDS, SAMPLE_FIELDS, "sample", expressions)
    sample = _fields(top.table("sample"), SAMPLE_FIELDS, RUN_FIELDS, "run", expressions)
    metadata = top.table("metadata").rest()
    scores = tuple(_score(section, expressions) for section in top.tables("scores"))
    published = tuple(_published(section, expressions) for section in top.tables("published"))
    if matrix is not None:
        _fill_from_matrix(run, sample, matrix)
        if not scores and not published:
            empty = Literal("[matrix]", "")
            scores = (ScoreRule(Literal("[matrix]", "score"), empty, At("[matrix]", "@cell")),)
    for group in sorted(expressions.groups):
        if group in RUN_FIELDS:
            if group in run and group not in run[group].groups():
                other = Group("[path] pattern", group)
                agreements.setdefault(group, AgreementRule(group, other))
            run.setdefault(group, Group("[path] pattern", group))
        elif group in SAMPLE_FIELDS:
            sample.setdefault(group, Group("[path] pattern", group))
    return Variant(
        run=run,
        sample=sample,
        metadata={name: expressions.value(value, f"[metadata] {name}") for name, value in metadata.items()},
        scores=scores,
        choices=_choices(top, expressions),
        published=published,
        agreements=tuple(agreements.values()),
    )


def _agreements(section: Section, parse: Expressions) -> dict[str, AgreementRule]:
    """Second sources that ``must_equal`` and ``compare_with`` name, taken out of the fields."""
    rules: dict[str, AgreementRule] = {}
    for name, value in section.values.items():
        given = {} if not isinstance(value, dict) else value
        for key in (word for word in _AGREEMENTS if word in given):
            where = f"{section.where} {name} {key}"
            rules[name] = AgreementRule(name, parse.value(given[key], where), key == "must_equal")
        if name in rules:
            section.values[name] = {k: v for k, v in given.items() if k not in _AGREEMENTS}
    return rules


def _fill_from_matrix(run: dict[str, Source], sample: dict[str, Source], matrix: MatrixRule) -> None:
    for name, path in ORIENTATIONS.get(matrix.orientation, {}).items():
        target = run if name in RUN_FIELDS else sample
        target.setdefault(name, At("[matrix] orientation", path))


def _fields(
    section: Section, known: Sequence[str], other: Sequence[str], place: str, parse: Expressions
) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for name, value in section.rest().items():
        where = f"{section.where} {name}"
        if name in known:
            sources[name] = _parser(name, parse)(value, where)
            continue
        hint = f"; it belongs to [{place}]" if name in other else similar(name, known)
        hint = hint or f"; fields here: {listed(known, 60)}"
        parse.mistakes.append(f"{where}: no such field{hint}")
    return sources


def _parser(name: str, parse: Expressions) -> Callable[[Any, str], Source]:
    """How the expression of a field is written."""
    if name in RECORD_FIELDS:
        return parse.record
    if name in LIST_FIELDS:
        return parse.names
    return parse.options if name == "choices" else parse.value


def _given(section: Section, names: Sequence[str], parse: Callable[[Any, str], Source]) -> dict[str, Source]:
    """The expressions of those keys that a section has."""
    values = {name: section.anything(name) for name in names}
    return {name: parse(value, f"{section.where} {name}") for name, value in values.items() if value is not None}


def _score(section: Section, parse: Expressions) -> ScoreRule:
    where = section.where
    parts = _given(section, ("value", "weight", "n_draws", "status"), parse.value)
    metric = section.anything("metric")
    name = section.anything("filter")
    null = section.anything("if_null")
    rule = null if isinstance(null, dict) else {}
    section.close()
    if "value" not in parts or metric is None:
        parse.mistakes.append(f"{where}: expected `metric` and `value`")
    fits = set(rule) <= {"value", "status"} and rule.get("status", "error") in SCORE_STATUSES
    if null is not None and null != "omit" and not (rule and fits):
        parse.mistakes.append(
            f'{where} if_null = {null!r}: expected "omit" or a table with `value` (a number) and '
            f"`status` (one of {listed(SCORE_STATUSES)})"
        )
    if "n_draws" in parse.groups and "n_draws" not in parts:
        parts["n_draws"] = Group("[path] pattern", "n_draws")
    return ScoreRule(
        metric=parse.name(metric, f"{where} metric"),
        filter=parse.name(name or "", f"{where} filter"),
        value=parts.get("value", Literal(where, None)),
        weight=parts.get("weight"),
        n_draws=parts.get("n_draws"),
        status=parts.get("status"),
        omit_null=null == "omit",
        null_value=rule.get("value"),
        null_status=rule.get("status"),
    )


def _choices(top: Section, parse: Expressions) -> ChoiceRule | None:
    if "choice_scores" not in top.values:
        return None
    section = top.table("choice_scores")
    target = section.anything("target")
    lists = _given(section, _CHOICE_FIELDS, parse.options)
    section.close()
    if not lists:
        parse.mistakes.append(f"{section.where}: expected one of {listed(_CHOICE_FIELDS)}")
    return ChoiceRule(lists, parse.value(target, f"{section.where} target") if target is not None else None)


def _published(section: Section, parse: Expressions) -> PublishedRule:
    where = section.where
    parts = _given(section, ("value", "standard_error", "n"), parse.value)
    names = _given(section, ("metric", "filter", "benchmark", "statistic", "perturbation", "split"), parse.name)
    section.close()
    if "value" not in parts or "metric" not in names:
        parse.mistakes.append(f"{where}: expected `metric` and `value`")
    value = parts.get("value", Literal(where, None))
    each = _iterates(value)
    by_key = frozenset(name for name in parts if name != "value" and _iterates(parts[name]))
    if by_key and not each:
        parse.mistakes.append(f"{where}: {listed(sorted(by_key))} with {{}} or [] goes with a `value` that ends so")
    error, n = (_collection(parts.get(name)) for name in ("standard_error", "n"))
    return PublishedRule(_collection(value) or value, names, each, error, n, by_key)


def _iterates(source: Source) -> bool:
    """Whether a path leads to the elements of a list or object."""
    return isinstance(source, At) and source.path.endswith(("[]", "{}"))


def _collection(source: Source | None) -> Source | None:
    """The list or object itself instead of its elements."""
    if isinstance(source, At) and _iterates(source):
        return At(source.where, source.path[:-2], recode=source.recode, optional=source.optional)
    return source
