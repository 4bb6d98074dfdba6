"""A mapping: the rules that its file consists of, made of the parsed TOML with every mistake in it.

docs/mappings.md is the reference of the language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from warehouse.importers.common.header_values import header_kinds
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.chunks import Each, FieldPath, PathError, Special, parse_path
from warehouse.importers.tabular.expressions import At, Group, Literal, Source, placeholders
from warehouse.importers.tabular.mapping_files import Expressions, Section, in_row
from warehouse.importers.tabular.readers import ORIENTATIONS, MatrixRule, ReadingRules
from warehouse.records import SAMPLE_SCHEMA, SCORE_STATUSES, Link, MetricKind

#: Fields of the run header that a mapping fills in ``[run]``.
RUN_FIELDS = tuple(name for name in header_kinds() if name not in ("metrics", "published", "place"))
#: Those of them that hold an object.
RECORD_FIELDS = tuple(name for name in RUN_FIELDS if header_kinds()[name] is Mapping)
#: Those that hold a list of names.
LIST_FIELDS = tuple(name for name in RUN_FIELDS if header_kinds()[name] is tuple)
#: Fields of a sample row that a mapping fills in ``[sample]``.
SAMPLE_FIELDS = tuple(
    name for name in SAMPLE_SCHEMA.names if name not in ("run", "identity", "metadata", "scores", "choice_scores")
)
#: Fields that tell apart several rows of one prompt.
_OF_ONE_PROMPT = ("draw", "perturbation", "fewshot_draw", "template")


@dataclass(frozen=True)
class ScoreRule:
    """``[[scores]]``: where one number of each row stands."""

    metric: Source
    filter: Source
    value: Source
    weight: Source | None = None
    n_draws: Source | None = None
    status: Source | None = None
    omit_null: bool = False
    null_value: float | None = None
    null_status: str | None = None

    @property
    def sources(self) -> Iterator[Source]:
        parts = (self.metric, self.filter, self.value, self.weight, self.n_draws, self.status)
        return (part for part in parts if part is not None)


@dataclass(frozen=True)
class ChoiceRule:
    """``[choice_scores]``: numbers of each option, as lists; the index of the right one."""

    lists: Mapping[str, Source]
    target: Source | None = None

    @property
    def sources(self) -> Iterator[Source]:
        yield from self.lists.values()
        if self.target is not None:
            yield self.target


@dataclass(frozen=True)
class PublishedRule:
    """``[[published]]``: a figure that the source itself states. ``each``: its path leads to a
    list or object of figures, whose keys replace ``{key}`` in the names; ``by_key`` says which of
    ``standard_error`` and ``n`` lead to a list or object with the same keys."""

    value: Source
    names: Mapping[str, Source]
    each: bool = False
    standard_error: Source | None = None
    n: Source | None = None
    by_key: frozenset[str] = frozenset()

    @property
    def sources(self) -> Iterator[Source]:
        yield from (self.value, *self.names.values())
        yield from (part for part in (self.standard_error, self.n) if part is not None)


@dataclass(frozen=True)
class SkipRule:
    """``[[rows.skip]]``: rows that are no data; any of the conditions that are given holds."""

    source: Source
    matching: Pattern | None = None
    not_matching: Pattern | None = None
    equal_to: tuple[str, ...] = ()
    null: bool = False


@dataclass(frozen=True)
class JoinRule:
    """``[join.NAME]``: another file, found from the data file's folder upwards; ``key`` is a path
    in its records, ``on`` one in ours. Without them the whole file is one record."""

    name: str
    file: str
    rules: ReadingRules
    key: str = ""
    on: str = ""
    optional: bool = False


@dataclass(frozen=True)
class AgreementRule:
    """A second source of a field of the run. Where it says something else than the first, the
    rows are rejected (``strict``), or a note says so and the first holds."""

    field: str
    other: Source
    strict: bool = False


@dataclass(frozen=True)
class Variant:
    """One reading of each row (``[each]`` gives several)."""

    run: Mapping[str, Source]
    sample: Mapping[str, Source]
    metadata: Mapping[str, Source]
    scores: tuple[ScoreRule, ...]
    choices: ChoiceRule | None
    published: tuple[PublishedRule, ...]
    agreements: tuple[AgreementRule, ...] = ()

    @property
    def sources(self) -> Iterator[Source]:
        yield from (rule.other for rule in self.agreements)
        yield from (*self.run.values(), *self.sample.values(), *self.metadata.values())
        for rule in (*self.scores, *((self.choices,) if self.choices else ()), *self.published):
            yield from rule.sources

    @property
    def has_samples(self) -> bool:
        """Whether rows are samples (not only published figures)."""
        return bool(self.scores or self.choices or {"response", "extracted_answer"} & {*self.sample})

    @property
    def is_long(self) -> bool:
        """Whether several rows can be about one prompt of one run, or one prompt of several."""
        varying = [self.sample[name] for name in _OF_ONE_PROMPT if name in self.sample]
        varying += [*self.run.values(), *(rule.metric for rule in self.scores)]
        return any(in_row(path) for source in varying for path in source.paths())


@dataclass(frozen=True)
class TabularMapping:
    """A mapping file. ``place`` is its path, for messages."""

    place: str
    files: tuple[str, ...]
    exclude: tuple[str, ...]
    together: bool
    members: tuple[str, ...]
    rules: ReadingRules
    patterns: tuple[Pattern, ...]
    nulls: frozenset[str]
    key: tuple[str, ...]
    skips: tuple[SkipRule, ...]
    joins: tuple[JoinRule, ...]
    matrix: MatrixRule | None
    variants: tuple[Variant, ...]
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def sources(self) -> Iterator[Source]:
        """All expressions of the mapping that read samples and runs."""
        for variant in self.variants:
            yield from variant.sources


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


def undecided(tables: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]]) -> Iterator[str]:
    """What is said of each ``[[choose]]`` that is left in a mapping."""
    for table in tables:
        line = f"line {table['line']}: " if "line" in table else ""
        between = [str(reading) for reading in table.get("between", ())]
        shown = listed([f"({number}) {reading}" for number, reading in enumerate(between, 1)], 8)
        yield (
            f"{line}[[choose]] {table.get('what', 'something')} is not decided: {shown}; "
            "write one of these into the mapping, as the comments there show, and delete this [[choose]]"
        )
