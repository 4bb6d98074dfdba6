"""Walking a JSON document to its rows: records in lists and objects, generations in records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.importers.tabular_paths import MISSING, Each, FieldPath, child, descend

#: Value, key in the object that holds it, number among its siblings.
Level = tuple[Any, str | None, int]


@dataclass(slots=True)
class Row:
    """One row of a nested document: what it lies in, outermost first, and its generation."""

    levels: tuple[Level, ...]
    draw: Any = None
    draw_number: int | None = None


@dataclass
class Walk:
    """How to find the rows in a document.

    Args:
        at: path of the records; ``None``: the elements of a list, or the object itself.
        draws: path of the generations in a record.

    ``empty`` counts records without any generation while walking.
    """

    at: FieldPath | None
    draws: FieldPath | None
    empty: int = field(default=0, compare=False)

    def rows(self, document: Any, number: int = 0) -> Iterator[Row]:
        """The rows of a document. ``number`` is the document's own among its siblings."""
        steps: Sequence[Any] = self.at.steps if self.at else ()
        if self.at is None and isinstance(document, list):
            steps = (Each.ITEM,)
        for levels in _walk(((document, None, number),), document, steps):
            yield from self._generations(levels)

    def _generations(self, levels: tuple[Level, ...]) -> Iterator[Row]:
        if self.draws is None:
            yield Row(levels)
            return
        found = [Row(levels, value, number) for value, _, number in self._inner(levels[-1][0])]
        self.empty += not found
        yield from found

    def _inner(self, record: Any) -> Iterable[Level]:
        steps: Sequence[Any] = self.draws.steps if self.draws else ()
        if isinstance(steps[-1], Each) and Each not in map(type, steps[:-1]):
            return _elements(descend(record, steps[:-1]), steps[-1])
        return (levels[-1] for levels in _walk(((record, None, 0),), record, steps))


def _walk(
    levels: tuple[Level, ...], value: Any, steps: Sequence[Any]
) -> Iterator[tuple[Level, ...]]:
    for depth, step in enumerate(steps):
        if isinstance(step, Each):
            for level in _elements(value, step):
                yield from _walk((*levels, level), level[0], steps[depth + 1 :])
            return
        value = child(value, step)
    if value is not MISSING:
        yield levels if value is levels[-1][0] else (*levels, (value, None, 0))


def _elements(value: Any, step: Each) -> Iterable[Level]:
    if step is Each.ITEM and isinstance(value, list):
        return ((element, None, number) for number, element in enumerate(value))
    if step is Each.VALUE and isinstance(value, dict):
        return ((value[key], key, number) for number, key in enumerate(value))
    return ()


def place_in_document(walk: Walk, row: Row) -> str:
    """The path of a row in its document, with numbers and keys filled in."""
    levels = row.levels[1:]
    text = _filled(walk.at.steps if walk.at else (Each.ITEM,) * bool(levels), levels)
    if row.draw_number is not None and walk.draws:
        text += ("." if text else "") + _filled(walk.draws.steps, [(None, None, row.draw_number)])
    return text


def _filled(steps: Any, levels: Sequence[Any]) -> str:
    remaining, text = iter(levels), ""
    for step in steps:
        if isinstance(step, Each):
            level = next(remaining, (None, None, 0))
            text += f"[{level[2]}]" if level[1] is None else f"[{level[1]!r}]"
        else:
            text += f".{step}" if text else str(step)
    return text
