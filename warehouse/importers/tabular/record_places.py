"""Where the records of evaluations lie in JSON documents: in lists, below keys, several generations in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.importers.tabular.column_names import ID_NAMES, Grade, are_numbered, grade_of
from warehouse.importers.tabular.plain_tables import METADATA_NAMES, RUN_NAMES, SAMPLE_NAMES, path_of, plain_name
from warehouse.importers.tabular.values import Unfit, number_of

_DEPTH, _LOOKED_AT, _MANY = 5, 50, 20
#: What names the elements of a list that are metrics of one generation.
METRIC_NAMES = ("metric", "metric_name", "name", "scorer", "evaluator", "grader", "key")
_CONTENT = {"text", "target", *SAMPLE_NAMES["text"], *SAMPLE_NAMES["target"], "user_input", "task_id", "question_id"}
_OF_PROMPTS = {*ID_NAMES, "prompt_id", *_CONTENT}
_KNOWN = {
    *_OF_PROMPTS,
    *SAMPLE_NAMES["response"],
    *METADATA_NAMES,
    *(word for name, words in RUN_NAMES.items() for word in (name, *words)),
}


@dataclass(frozen=True)
class Place:
    """Where records are: paths as ``[rows]`` has them, and what else the document holds of such records.

    Attributes:
        beside: paths of other records with the same fields.
        parallel: paths of objects with the same keys, which may hold further fields of the records.
    """

    at: str = ""
    draws: str = ""
    beside: tuple[str, ...] = ()
    parallel: tuple[str, ...] = ()


def place_of(document: Any) -> Place:
    """The likeliest place of records in a document; the document itself where none is likelier."""
    found = list(_places(document, "", None))
    if not found:
        return Place()
    best = max(enumerate(found), key=lambda item: (_weight(*item[1]), -item[0]))[1]
    return replace(best[0], beside=tuple(_beside(best, found)), parallel=tuple(_parallel(best[2], best[0].at)))


def _beside(best: Any, found: Sequence[Any]) -> Iterator[str]:
    """Places apart from one whose records have mostly the same fields."""
    place, record = best[0], best[1]
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return
    for other, inner, *_ in found:
        apart = not (other.at.startswith(place.at) or place.at.startswith(other.at))
        if apart and not other.draws and isinstance(inner, dict):
            common = record.keys() & inner.keys()
            if len(common) * 2 > max(len(record), len(inner)) and _score_grade({key: inner[key] for key in common}):
                yield other.at


def _parallel(around: Any, at: str) -> Iterator[str]:
    """Objects beside one of values by key that hold single values by the same keys, as tables by column do."""
    if not isinstance(around, dict) or not at.endswith("{}"):
        return
    folder = at[: at.rfind(".") + 1]
    inner_of = {f"{folder}{path_of(str(key))}": inner for key, inner in around.items()}
    values = inner_of.get(at.removesuffix("{}"))
    if not isinstance(values, dict) or keyed_kind(values) != "values":
        return
    for path, inner in inner_of.items():
        same_keys = inner is not values and isinstance(inner, dict) and inner.keys() == values.keys()
        if same_keys and all(map(_is_scalar, inner.values())):
            yield path


def keyed_kind(value: Any) -> str:
    """What an object holds under keys that are no names of fields: ``objects``, ``lists``, ``values``, or nothing."""
    if not isinstance(value, dict) or len(value) < 2:
        return ""
    inner = list(value.values())
    if all(isinstance(item, dict) for item in inner):
        return "objects" if _are_alike(list(value), inner) else ""
    keys_are_ids = len(inner) > 2 and are_numbered(list(map(str, value))) or len(inner) >= _MANY
    if not keys_are_ids:
        return ""
    if all(isinstance(item, list) for item in inner):
        return "lists" if all(_is_scalar(part) for item in inner[:_LOOKED_AT] for part in item) else ""
    kinds = {type(item) for item in inner}
    return "values" if kinds <= {int, float, bool} and not any(_is_field(key) for key in value) else ""


def _are_alike(keys: Sequence[str], records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects have most of their fields in common, and are no objects with keys of the same kind."""
    if any(_is_field(key) for key in keys) or not any(records):
        return False
    if len(records) < 3 and not are_numbered(keys):
        return False
    looked_at = records[:_LOOKED_AT]
    times = Counter(key for record in looked_at for key in record)
    common = {key for key, count in times.items() if count * 5 >= len(looked_at) and count > 1}
    if len(common) > 2 and are_numbered(sorted(common)):
        return False
    fits = sum(len(common & record.keys()) * 2 >= len(record) for record in looked_at)
    return fits * 5 >= len(looked_at) * 4


def _is_field(key: str) -> bool:
    return plain_name(str(key)) in _KNOWN


def _places(value: Any, path: str, outer: Any, depth: int = 0) -> Iterator[tuple[Place, Any, Any, int]]:
    """Places, with the first record of each, what it lies in, and how many there are."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        records = [item for item in value[:_LOOKED_AT] if isinstance(item, dict)]
        if records and len(records) * 2 > len(value[:_LOOKED_AT]):
            yield from _of_records(f"{path}[]", records, outer, len(value), depth)
    elif isinstance(value, dict):
        kind = keyed_kind(value)
        if kind == "objects":
            records = [item for item in value.values() if isinstance(item, dict)]
            yield from _of_records(f"{path}{{}}", records, value, len(value), depth)
            return
        if kind:
            if _grade_of_keyed(value) and grade_of(path.rpartition(".")[2]) > Grade.NEVER:
                yield Place(f"{path}{{}}", "[]" if kind == "lists" else ""), value, outer, len(value)
            return
        if _are_lists_of_one_kind(value):
            records = [item for items in value.values() for item in items]
            yield from _of_records(f"{path}{{}}[]", records, value, len(records), depth)
            return
        yield from _below(value, f"{path}." if path else "", depth)


def _are_lists_of_one_kind(value: Mapping[str, Any]) -> bool:
    """Whether an object holds nothing but lists of records with the same fields: of several models, tasks, prompts."""
    lists = list(value.values())
    if len(lists) < 2 or not all(map(_is_list_of_records, lists)) or any(map(_is_field, map(str, value))):
        return False
    first = {*lists[0][0]}
    return all(len(first & {*items[0]}) * 2 > max(len(first), len(items[0])) for items in lists)


def _of_records(path: str, records: Sequence[Any], outer: Any, count: int, depth: int) -> Iterator[Any]:
    record = max(records, key=len)
    yield Place(path), record, outer, count
    names_prompts = any(plain_name(str(key)) in _OF_PROMPTS for key in record)
    for key, inner in record.items() if names_prompts else ():
        if not _is_list_of_records(inner) or not _score_grade(inner[0]):
            continue
        if {plain_name(str(name)) for name in inner[0]} & _CONTENT - {"text"}:
            continue  # prompts of their own; a text may be that of a generation
        if not names_of_metrics([item.get(key) for item in records if isinstance(item.get(key), list)]):
            yield Place(path, f"{path_of(str(key))}[]"), {**inner[0], **record}, outer, count
    yield from _below(record, f"{path}.", depth)


def _below(record: Mapping[str, Any], prefix: str, depth: int) -> Iterator[Any]:
    for key, inner in record.items():
        if isinstance(inner, list | dict):
            yield from _places(inner, f"{prefix}{path_of(str(key))}", record, depth + 1)


def names_of_metrics(lists: Sequence[Sequence[Any]]) -> str:
    """The field that names the elements of lists, where they are metrics and no generations; else nothing."""
    filled = [items for items in lists[:_LOOKED_AT] if items and all(isinstance(item, dict) for item in items)]
    for name in METRIC_NAMES:
        named = [[item.get(name) for item in items] for items in filled]
        texts = [text for names in named for text in names]
        if not texts or not all(isinstance(text, str) for text in texts):
            continue
        if all(len({*names}) == len(names) for names in named) and len({*texts}) <= max(map(len, named)) * 2:
            return name
    return ""


def _is_list_of_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _weight(place: Place, record: Any, outer: Any, count: int) -> tuple[int, ...]:
    """How much speaks for a place: scores beside prompts, scores, known names, how many records."""
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return (2, _grade_of_keyed(record), 0, count)
    grade, known = _score_grade(record), {plain_name(str(key)) for key in record} & _KNOWN
    of_prompts = bool(known & _OF_PROMPTS) or place.at.endswith("{}") and count > 2
    if not of_prompts and isinstance(outer, dict) and any(plain_name(str(key)) in _OF_PROMPTS for key in outer):
        of_prompts = bool(names_of_metrics([_siblings(place, outer)]))
    return (1 + bool(of_prompts) if grade else 0, grade, len(known), count)


def _siblings(place: Place, outer: Mapping[str, Any]) -> list[Any]:
    last = place.at.rpartition(".")[2].removesuffix("[]").strip('"')
    value = outer.get(last)
    return value if isinstance(value, list) else []


def _grade_of_keyed(record: Any) -> int:
    parts = [part for item in record.values() for part in (item if isinstance(item, list) else [item])]
    return int(Grade.LIKELY) if parts and all(_is_unit(part) for part in parts[:1000]) else 0


def _score_grade(record: Any, parents: tuple[str, ...] = ()) -> int:
    """The best grade of a number in a record; 0 where it has none that may well be a score."""
    best = 0
    for key, value in record.items() if isinstance(record, dict) else ():
        if isinstance(value, dict) and len(parents) < 3 and not keyed_kind(value):
            best = max(best, _score_grade(value, (*parents, str(key))))
        elif _is_scalar(value) and value is not None and not isinstance(number_of(value), Unfit | None):
            grade = grade_of(str(key), parents)
            best = max(best, int(grade) if grade >= Grade.LIKELY else 0)
    return best


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_unit(value: Any) -> bool:
    return isinstance(value, bool | int | float) and 0 <= value <= 1
