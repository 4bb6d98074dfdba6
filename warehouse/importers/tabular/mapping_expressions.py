"""The expressions of a mapping, parsed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from warehouse.importers.common.messages import listed, similar
from warehouse.importers.tabular.combined_expressions import (
    Difference,
    Equals,
    First,
    Length,
    Listing,
    Pick,
    Quotient,
    Record,
    Sum,
    SumOfList,
)
from warehouse.importers.tabular.expressions import (
    PLAIN,
    TOLERANCE,
    At,
    Equality,
    Literal,
    PathGroup,
    Recode,
    Source,
    TextTemplate,
)
from warehouse.importers.tabular.mapping_files import Section

_EXPRESSIONS = (
    *("path", "const", "group", "template", "equals", "pick", "first"),
    *("quotient", "difference", "sum", "length"),
)
_RECODE = (
    "json",
    "null",
    "pattern",
    "values",
    "otherwise",
    "format",
    "decimal",
    "scale",
    "add",
    "sha256",
)


class Expressions:
    """Parses expressions; knows the groups of the path pattern.

    ``[run] model = "name"`` is a path, a number or truth value is a constant, and a
    table says which kind of expression it is (docs/reference/mapping_language.md).
    """

    def __init__(self, groups: Iterable[str], mistakes: list[str]) -> None:
        self.groups = frozenset(groups)
        self.mistakes = mistakes
        self._is_optional = False  # what encloses the expression may be absent

    def value(self, value: Any, where: str) -> Source:
        """An expression whose plain text is a field path."""
        if isinstance(value, str):
            return At(where, value, optional=self._is_optional)
        if isinstance(value, dict):
            return self._table(value, where)
        if isinstance(value, list) and any(
            isinstance(part, dict | list) for part in value
        ):
            self.mistakes.append(
                f"{where} = {value!r}: expected one value, or a list of constants"
            )
        return Literal(where, value)

    def names(self, value: Any, where: str) -> Source:
        """An expression for a list of names, or the list of them: texts in it are meant
        literally, tables are expressions."""
        if not isinstance(value, list) or not any(
            isinstance(part, dict) for part in value
        ):
            return self.value(value, where)  # a list without tables is a constant
        return Listing(where, tuple(self.name(part, where) for part in value))

    def name(self, value: Any, where: str) -> Source:
        """An expression whose plain text is meant literally."""
        if isinstance(value, str):
            return Literal(where, value)
        return self.value(value, where)

    def options(self, value: Any, where: str) -> Source:
        """An expression for a list: one path to a list, or a list of expressions."""
        if not isinstance(value, list):
            return self.value(value, where)
        if not value:
            self.mistakes.append(f"{where}: an empty list; expected expressions")
            return Literal(where, None)
        return Listing(where, tuple(self.value(part, where) for part in value))

    def record(self, value: Any, where: str) -> Source:
        """An expression for an object: one path to it, or a table of names and
        expressions."""
        if not isinstance(value, dict) or not set(_EXPRESSIONS).isdisjoint(value):
            return self.value(value, where)
        parts = (
            (name, self.value(part, f"{where}.{name}")) for name, part in value.items()
        )
        return Record(where, tuple(parts))

    def _table(self, values: Mapping[str, Any], where: str) -> Source:
        section = Section(values, where, self.mistakes)
        optional = bool(section.take("optional", bool, False)) or self._is_optional
        recode = _recode(section)
        kinds = [kind for kind in _EXPRESSIONS if kind in values]
        if len(kinds) != 1:
            if kinds:
                shown = f"{' and '.join(kinds)} together"
            else:
                shown = f"none in {dict(values)}"
            self.mistakes.append(
                f"{where}: expected one of {listed(_EXPRESSIONS)}; found {shown}"
            )
            return Literal(where, None)
        options = {"recode": recode, "optional": optional}
        outer, self._is_optional = self._is_optional, optional
        source: Source = getattr(self, f"_{kinds[0]}")(section, where, options)
        self._is_optional = outer
        section.close()
        return source

    def _path(self, section: Section, where: str, options: Any) -> Source:
        return At(where, section.text("path"), **options)

    def _const(self, section: Section, where: str, options: Any) -> Source:
        return Literal(where, section.anything("const"), **options)

    def _group(self, section: Section, where: str, options: Any) -> Source:
        name = section.text("group")
        if name not in self.groups:
            self.mistakes.append(
                f"{where} group = {name!r}: no such group in [path] pattern"
                f"{similar(name, self.groups)}; groups: "
                f"{listed(sorted(self.groups)) or 'none'}"
            )
        return PathGroup(where, name, **options)

    def _template(self, section: Section, where: str, options: Any) -> Source:
        return TextTemplate(where, section.text("template"), self.groups, **options)

    def _equals(self, section: Section, where: str, options: Any) -> Source:
        pair = [self.value(part, where) for part in section.take("equals", list, [])]
        equality = _equality(section)
        among = section.anything("among")
        if len(pair) != 2:
            self.mistakes.append(
                f"{where} equals: expected a list of two, found {len(pair)}"
            )
            return Literal(where, None)
        chosen = None
        if among is not None:
            chosen = self.options(among, where)
        return Equals(where, (pair[0], pair[1]), equality, chosen, **options)

    def _first(self, section: Section, where: str, options: Any) -> Source:
        parts = [self.value(part, where) for part in section.take("first", list, [])]
        if not parts:
            self.mistakes.append(f"{where} first: expected a list of expressions")
        return First(where, tuple(parts), **options)

    def _quotient(self, section: Section, where: str, options: Any) -> Source:
        return self._of_two("quotient", Quotient, section, where, options)

    def _difference(self, section: Section, where: str, options: Any) -> Source:
        return self._of_two("difference", Difference, section, where, options)

    def _of_two(
        self,
        kind: str,
        made: type[Quotient | Difference],
        section: Section,
        where: str,
        options: Any,
    ) -> Source:
        parts = [self.value(part, where) for part in section.take(kind, list, [])]
        if len(parts) != 2:
            self.mistakes.append(
                f"{where} {kind}: expected a list of two, found {len(parts)}"
            )
            return Literal(where, None)
        return made(where, tuple(parts), **options)

    def _sum(self, section: Section, where: str, options: Any) -> Source:
        given = section.anything("sum")
        if not isinstance(given, list):
            return SumOfList(where, (self.value(given, where),), **options)
        if not given:
            self.mistakes.append(f"{where} sum: expected a list of expressions")
        return Sum(where, tuple(self.value(part, where) for part in given), **options)

    def _length(self, section: Section, where: str, options: Any) -> Source:
        of = self.value(section.anything("length"), where)
        return Length(where, of, **options)

    def _pick(self, section: Section, where: str, options: Any) -> Source:
        index = self.value(section.anything("pick"), where)
        choices = section.anything("from")
        if choices is None:
            self.mistakes.append(
                f"{where} pick: expected also `from`, the list to pick from"
            )
        return Pick(where, index, self.options(choices, where), **options)


def _equality(section: Section) -> Equality:
    """How ``equals`` compares."""
    numeric = bool(section.take("numeric", bool, False))
    if "tolerance" in section.values and not numeric:
        section.mistakes.append(f"{section.where} tolerance: goes with numeric = true")
    tolerance = section.take("tolerance", (int, float), TOLERANCE)
    if not 0 <= tolerance < math.inf:
        section.mistakes.append(
            f"{section.where} tolerance = {tolerance}: expected 0 or more"
        )
        tolerance = TOLERANCE
    return Equality(bool(section.take("normalise", bool, False)), numeric, tolerance)


def _recode(section: Section) -> Recode:
    is_given = any(key in section.values for key in (*_RECODE, "default"))
    recode = Recode(
        json=bool(section.take("json", bool, False)),
        null=section.nulls("null"),
        pattern=section.pattern("pattern"),
        values=section.take("values", dict, {}),
        otherwise=section.anything("otherwise"),
        format=section.text("format"),
        decimal=section.text("decimal"),
        scale=section.take("scale", (int, float), 1),
        add=section.take("add", (int, float), 0),
        sha256=bool(section.take("sha256", bool, False)),
        default=section.anything("default"),
    )
    if is_given:
        return recode
    return PLAIN
