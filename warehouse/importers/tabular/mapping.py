"""A mapping: the rules that its file consists of, made of the parsed TOML with every
mistake in it.

docs/mappings.md is the reference of the language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, cast, get_args

from warehouse.importers.common.header_values import header_kinds
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.chunks import (
    Each,
    FieldPath,
    PathError,
    Special,
    parse_path,
)
from warehouse.importers.tabular.expressions import (
    At,
    Literal,
    PathGroup,
    Source,
    placeholders,
)
from warehouse.importers.tabular.mapping_files import Expressions, Section, in_row
from warehouse.importers.tabular.readers import ORIENTATIONS, MatrixRule, ReadingRules
from warehouse.records import SAMPLE_SCHEMA, SCORE_STATUSES, Link, MetricKind

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
#: Fields that tell apart several rows of one prompt.
_OF_ONE_PROMPT = ("draw", "perturbation", "fewshot_draw", "template")


@dataclass(frozen=True)
class _Rule:
    """The base of rules with expressions."""

    @property
    def sources(self) -> Iterator[Source]:
        """The expressions, in the order of the fields."""
        for part in fields(self):
            yield from _sources_in(getattr(self, part.name))


def _sources_in(value: Any) -> Iterator[Source]:
    if isinstance(value, Source):
        yield value
    elif isinstance(value, _Rule):
        yield from value.sources
    elif isinstance(value, dict | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _sources_in(part)


@dataclass(frozen=True)
class ScoreRule(_Rule):
    """``[[scores]]``: where one number of each row stands."""

    metric: Source
    filter: Source
    value: Source
    weight: Source | None = None
    n_draws: Source | None = None
    status: Source | None = None
    omit_null: bool = False
    omit_absent: bool = False  # but not what is there and empty
    null_value: float | None = None
    null_status: str | None = None


@dataclass(frozen=True)
class ChoiceRule(_Rule):
    """``[choice_scores]``: numbers of each option, as lists; the index of the right
    one."""

    lists: Mapping[str, Source]
    target: Source | None = None


@dataclass(frozen=True)
class PublishedRule(_Rule):
    """``[[published]]``: a figure that the source itself states."""

    value: Source
    names: Mapping[str, Source]  #: the texts that say what is measured.
    #: ``standard_error`` and ``n``, where they are mapped.
    spread: Mapping[str, Source]
    #: those of ``value`` and the spread whose path leads to a list or object of
    #: figures, with the same keys; they replace ``{key}`` in the names.
    by_key: frozenset[str] = frozenset()

    @property
    def numbers(self) -> dict[str, Source]:
        """The value and its spread."""
        return {"value": self.value, **self.spread}


@dataclass(frozen=True)
class VoteRule(_Rule):
    """``[votes]``: which of two models did better in each row; of each covariate the
    numbers of both answers."""

    fields: Mapping[str, Source]
    covariates: Mapping[str, tuple[Source, Source]]


@dataclass(frozen=True)
class SkipRule:
    """``[[rows.skip]]``: rows that are no data; any of the conditions that are given
    holds."""

    source: Source
    matching: Pattern | None = None
    not_matching: Pattern | None = None
    equal_to: tuple[str, ...] = ()
    null: bool = False


@dataclass(frozen=True)
class JoinRule:
    """``[join.NAME]``: another file, found from the data file's folder upwards; ``key``
    is a path in its records, ``on`` one in ours. Without them the whole file is one
    record."""

    name: str
    file: str
    rules: ReadingRules
    key: str = ""
    on: str = ""
    optional: bool = False


@dataclass(frozen=True)
class AgreementRule(_Rule):
    """A second source of a field of the run. Where it says something else than the
    first, the rows are rejected (``strict``), or a note says so and the first holds."""

    field: str
    other: Source
    strict: bool = False


@dataclass(frozen=True)
class Variant(_Rule):
    """One reading of each row (``[each]`` gives several)."""

    agreements: tuple[AgreementRule, ...]
    run: Mapping[str, Source]
    sample: Mapping[str, Source]
    metadata: Mapping[str, Source]
    scores: tuple[ScoreRule, ...]
    choices: ChoiceRule | None
    published: tuple[PublishedRule, ...]
    votes: VoteRule | None = None
    #: ``[scorer]``: who gave the scores of a row.
    scorer: Mapping[str, Source] = field(default_factory=dict)

    @property
    def has_samples(self) -> bool:
        """True if rows are samples (not only published figures)."""
        return bool(
            self.scores
            or self.choices
            or {"response", "extracted_answer"} & {*self.sample}
        )

    @property
    def is_long(self) -> bool:
        """True if several rows can be about one prompt of one run, or one prompt of
        several."""
        varying = [self.sample[name] for name in _OF_ONE_PROMPT if name in self.sample]
        varying += [
            *self.run.values(),
            *self.scorer.values(),
            *(rule.metric for rule in self.scores),
        ]
        paths = chain.from_iterable(source.paths() for source in varying)
        return any(map(in_row, paths))


@dataclass(frozen=True)
class TabularMapping:
    """A mapping file."""

    files: tuple[str, ...]
    exclude: tuple[str, ...]
    together: bool
    members: tuple[str, ...]
    rules: ReadingRules
    patterns: tuple[Pattern, ...]
    nulls: frozenset[str]
    columns: tuple[str, ...]  #: those that a table may have; empty: any.
    #: columns and objects whose parts are settings where they hold one value in a run;
    #: ``*``: all that nothing reads.
    constants: tuple[str, ...]
    key: tuple[str, ...]
    skips: tuple[SkipRule, ...]
    joins: tuple[JoinRule, ...]
    matrix: MatrixRule | None
    variants: tuple[Variant, ...]
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def paths(self) -> tuple[tuple[Source, str], ...]:
        """The paths of samples and runs, each with the innermost expression that reads
        it."""
        sources = chain.from_iterable(variant.sources for variant in self.variants)
        leaves = chain.from_iterable(source.leaves() for source in sources)
        found: list[tuple[Source, str]] = []
        for leaf in leaves:
            found += [(leaf, path) for path in leaf.paths()]
        return tuple(found)


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
_FORMATS = ("csv", "tsv", "json", "jsonl", "parquet")


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
    rows, archive = top.table("rows"), top.table("archive")
    rules = _reading_rules(top, rows)
    matrix = _matrix(top)
    mapping = TabularMapping(
        files=top.texts("files"),
        exclude=top.texts("exclude"),
        together=bool(top.take("together", bool, False)),
        members=archive.texts("members"),
        rules=rules,
        patterns=compiled,
        nulls=frozenset(top.texts("null")),
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
