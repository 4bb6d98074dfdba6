"""Variants of a row in a mapping, parsed: fields, scores, options, votes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from warehouse.importers.common.header_values import header_kinds
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.tabular.expressions import (
    At,
    Literal,
    PathGroup,
    Source,
)
from warehouse.importers.tabular.mapping_expressions import Expressions
from warehouse.importers.tabular.mapping_files import Section
from warehouse.importers.tabular.mapping_rules import (
    AgreementRule,
    ChoiceRule,
    PublishedRule,
    ScoreRule,
    Variant,
    VoteRule,
)
from warehouse.importers.tabular.readers import ORIENTATIONS, MatrixRule
from warehouse.records import SAMPLE_SCHEMA, SCORE_STATUSES

#: Fields of the run header that a mapping fills in ``[run]``.
RUN_FIELDS = tuple(
    name for name in header_kinds() if name not in ("metrics", "published", "place")
)
#: Those of them that hold an object.
RECORD_FIELDS = tuple(name for name in RUN_FIELDS if header_kinds()[name] is Mapping)
#: Those that hold a list of names.
LIST_FIELDS = tuple(name for name in RUN_FIELDS if header_kinds()[name] is tuple)
#: Fields of a sample row that a mapping fills in ``[sample]``.
SAMPLE_FIELDS = tuple(
    name
    for name in SAMPLE_SCHEMA.names
    if name
    not in ("run", "identity", "metadata", "scores", "choice_scores", "transcript")
)
#: Fields of a vote that a mapping fills in ``[votes]``.
VOTE_FIELDS = (
    *(
        "model_a",
        "model_b",
        "outcome",
        "first",
        "voter",
        "judge",
        "scorer",
        "scorer_kind",
        "judge_model",
    ),
    *("weight", "created_at"),
)
#: Fields of ``[scorer]``: ``judge_model`` names a model, ``annotator`` a person,
#: ``scorer`` any of them.
SCORER_FIELDS = ("scorer", "scorer_kind", "judge_model", "annotator")
_CHOICE_FIELDS = (
    "loglikelihood",
    "unconditional_loglikelihood",
    "is_greedy",
    "n_tokens",
    "n_bytes",
)
_AGREEMENTS = ("compare_with", "must_equal")
_FIGURES = ("scores", "published")
_EXPANDED = (
    "run",
    "sample",
    "metadata",
    "scorer",
    "scores",
    "choice_scores",
    "published",
    "votes",
)


def parse_variants(
    top: Section, expressions: Expressions, matrix: MatrixRule | None
) -> tuple[Variant, ...]:
    each = top.take("each", dict, {})
    template = {name: top.anything(name) for name in _EXPANDED}
    lengths = {
        len(values) if isinstance(values, list) else 0 for values in each.values()
    }
    if each and (len(lengths) != 1 or lengths == {0}):
        top.mistakes.append("[each]: expected lists of one length, not empty")
        each = {}
    rounds = [
        dict(zip(each, row, strict=True)) for row in zip(*each.values(), strict=True)
    ]
    filled = _of_one_row([_filled_in(template, row) for row in rounds or [{}]])
    return tuple(_variant(each, expressions, matrix) for each in filled)


def _of_one_row(filled: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rounds that differ in nothing but their scores and figures as one: a row with
    several metrics is one answer."""
    merged: list[dict[str, Any]] = []
    for item in filled:
        last = {}
        if merged:
            last = merged[-1]
        lists = [
            name
            for name in _FIGURES
            if isinstance(item[name], list) and isinstance(last.get(name), list)
        ]
        if last and {**item, **{name: last[name] for name in lists}} == last:
            for name in lists:
                new = [rule for rule in item[name] if rule not in last[name]]
                last[name] = last[name] + new
        else:
            merged.append(item)
    return merged


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


def _variant(
    template: Mapping[str, Any], expressions: Expressions, matrix: MatrixRule | None
) -> Variant:
    top = Section(
        {k: v for k, v in template.items() if v is not None}, "", expressions.mistakes
    )
    section = top.table("run")
    agreements = _agreements(section, expressions)
    run = _fields(section, RUN_FIELDS, SAMPLE_FIELDS, "sample", expressions)
    sample = _fields(top.table("sample"), SAMPLE_FIELDS, RUN_FIELDS, "run", expressions)
    metadata = top.table("metadata").rest()
    scores = tuple(_score(section, expressions) for section in top.tables("scores"))
    published = tuple(
        _published(section, expressions) for section in top.tables("published")
    )
    scorer = _scorer(top, expressions)
    if matrix is not None:
        _fill_from_matrix(run, sample, matrix)
        if not scores and not published:
            empty = Literal("[matrix]", "")
            scores = (
                ScoreRule(Literal("[matrix]", "score"), empty, At("[matrix]", "@cell")),
            )
    for name in sorted(expressions.groups):
        group = PathGroup("[path] pattern", name)
        if name in SCORER_FIELDS:
            scorer.setdefault(name, group)
        elif name in SAMPLE_FIELDS and name not in RUN_FIELDS:
            sample.setdefault(name, group)
        elif name in RUN_FIELDS and name not in run.setdefault(name, group).groups():
            agreements.setdefault(name, AgreementRule(name, group))
    return Variant(
        agreements=tuple(agreements.values()),
        run=run,
        sample=sample,
        metadata={
            name: expressions.value(value, f"[metadata] {name}")
            for name, value in metadata.items()
        },
        scores=scores,
        choices=_choices(top, expressions),
        published=published,
        votes=_votes(top, expressions),
        scorer=scorer,
    )


def _scorer(top: Section, parse: Expressions) -> dict[str, Source]:
    if "scorer" not in top.values:
        return {}
    section = top.table("scorer")
    given = _given(section, SCORER_FIELDS, parse.value)
    section.close()
    return given


def _votes(top: Section, parse: Expressions) -> VoteRule | None:
    if "votes" not in top.values:
        return None
    section = top.table("votes")
    by_name = section.table("covariates")
    covariates: dict[str, tuple[Source, Source]] = {}
    for name in list(by_name.values):
        pair = by_name.table(name)
        sides = _given(pair, ("a", "b"), parse.value)
        pair.close()
        if len(sides) == 2:
            covariates[name] = (sides["a"], sides["b"])
        else:
            parse.mistakes.append(
                f"{pair.where}: expected `a` and `b`, the numbers of both answers"
            )
    given = _given(section, VOTE_FIELDS, parse.value)
    section.close()
    if missing := [name for name in VOTE_FIELDS[:3] if name not in given]:
        parse.mistakes.append(f"[votes]: expected {listed(missing)}")
    return VoteRule(given, covariates)


def _agreements(section: Section, parse: Expressions) -> dict[str, AgreementRule]:
    """Second sources that ``must_equal`` and ``compare_with`` name, taken out of the
    fields."""
    rules: dict[str, AgreementRule] = {}
    for name, value in section.values.items():
        if not isinstance(value, dict):
            continue
        for key in _AGREEMENTS:
            if key in value:
                other = parse.value(value[key], f"{section.where} {name} {key}")
                rules[name] = AgreementRule(name, other, key == "must_equal")
                section.values[name] = {
                    k: v for k, v in value.items() if k not in _AGREEMENTS
                }
    return rules


def _fill_from_matrix(
    run: dict[str, Source], sample: dict[str, Source], matrix: MatrixRule
) -> None:
    for name, path in ORIENTATIONS.get(matrix.orientation, {}).items():
        target = sample
        if name in RUN_FIELDS:
            target = run
        target.setdefault(name, At("[matrix] orientation", path))


def _fields(
    section: Section,
    names: Sequence[str],
    others: Sequence[str],
    of_others: str,
    parse: Expressions,
) -> dict[str, Source]:
    """The expressions of a section's fields; ``others`` are the fields of the section
    ``of_others``."""
    sources: dict[str, Source] = {}
    for name, value in section.rest().items():
        where = f"{section.where} {name}"
        if name in names:
            sources[name] = _parser(name, parse)(value, where)
            continue
        if name in others:
            hint = f"; it belongs to [{of_others}]"
        else:
            hint = similar(name, names)
        parse.mistakes.append(
            f"{where}: no such field{hint or f'; fields here: {listed(names, 60)}'}"
        )
    return sources


def _parser(name: str, parse: Expressions) -> Callable[[Any, str], Source]:
    """How the expression of a field is written."""
    if name in RECORD_FIELDS:
        return parse.record
    if name in LIST_FIELDS:
        return parse.names
    if name == "choices":
        return parse.options
    return parse.value


def _given(
    section: Section, names: Sequence[str], parse: Callable[[Any, str], Source]
) -> dict[str, Source]:
    """The expressions of those keys that a section has."""
    values = {name: section.anything(name) for name in names}
    return {
        name: parse(value, f"{section.where} {name}")
        for name, value in values.items()
        if value is not None
    }


def _score(section: Section, parse: Expressions) -> ScoreRule:
    where = section.where
    parts = _given(section, ("value", "weight", "n_draws", "status"), parse.value)
    metric = section.anything("metric")
    name = section.anything("filter")
    null = section.anything("if_null")
    rule = {}
    if isinstance(null, dict):
        rule = null
    section.close()
    if "value" not in parts or metric is None:
        parse.mistakes.append(f"{where}: expected `metric` and `value`")
    fits = (
        set(rule) <= {"value", "status"}
        and rule.get("status", "error") in SCORE_STATUSES
    )
    if null not in (None, "omit", "omit_absent") and not (rule and fits):
        parse.mistakes.append(
            f'{where} if_null = {null!r}: expected "omit", "omit_absent" or a table '
            "with `value` (a number) and "
            f"`status` (one of {listed(SCORE_STATUSES)})"
        )
    if "n_draws" in parse.groups and "n_draws" not in parts:
        parts["n_draws"] = PathGroup("[path] pattern", "n_draws")
    return ScoreRule(
        metric=parse.name(metric, f"{where} metric"),
        filter=parse.name(name or "", f"{where} filter"),
        value=parts.get("value", Literal(where, None)),
        weight=parts.get("weight"),
        n_draws=parts.get("n_draws"),
        status=parts.get("status"),
        omit_null=null == "omit",
        omit_absent=null == "omit_absent",
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
        parse.mistakes.append(
            f"{section.where}: expected one of {listed(_CHOICE_FIELDS)}"
        )
    return ChoiceRule(
        lists,
        parse.value(target, f"{section.where} target") if target is not None else None,
    )


def _published(section: Section, parse: Expressions) -> PublishedRule:
    numbers = _given(section, ("value", "standard_error", "n"), parse.value)
    names = _given(
        section,
        ("metric", "filter", "benchmark", "statistic", "perturbation", "split"),
        parse.name,
    )
    section.close()
    if "value" not in numbers or "metric" not in names:
        parse.mistakes.append(f"{section.where}: expected `metric` and `value`")
        numbers = {"value": Literal(section.where, None)} | numbers
    by_key = [
        name
        for name, source in numbers.items()
        if isinstance(source, At) and source.path.endswith(("[]", "{}"))
    ]
    if by_key and "value" not in by_key:
        parse.mistakes.append(
            f"{section.where}: {listed(sorted(by_key))} with {{}} or [] goes with a "
            "`value` that ends so"
        )
    for name in by_key:  # the list or object itself
        path = cast(At, numbers[name])
        numbers[name] = replace(path, path=path.path[:-2])
    return PublishedRule(numbers.pop("value"), names, numbers, frozenset(by_key))
