"""Where the records of a JSON document lie: found by the scores and names that they
hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from warehouse.importers.common.json_fields import items_of
from warehouse.importers.tabular.column_names import (
    AGGREGATES,
    ID_NAMES,
    METADATA_NAMES,
    RUN_NAMES,
    SAMPLE_NAMES,
    Grade,
    are_models,
    are_numbered,
    grade_of,
    is_metric,
    is_setting,
    path_of,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.columns import Unfit, number_of
from warehouse.importers.tabular.drafts.list_elements import (
    are_conditions,
    are_items,
    is_list_of_records,
)

DEPTH = 5
_LOOKED_AT = 50
_MANY = 20
#: What names the elements of a list that are metrics of one generation.
METRIC_NAMES = ("metric", "metric_name", "name", "scorer", "evaluator", "grader", "key")
_CONTENT = {
    "text",
    "target",
    *SAMPLE_NAMES["text"],
    *SAMPLE_NAMES["target"],
    "user_input",
    "task_id",
    "question_id",
}
_OF_PROMPTS = {*ID_NAMES, "prompt_id", *_CONTENT}
_FAMILIAR = {
    *_OF_PROMPTS,
    *SAMPLE_NAMES["response"],
    *METADATA_NAMES,
    *RUN_NAMES,
    *chain.from_iterable(RUN_NAMES.values()),
}


@dataclass(frozen=True)
class RecordLocation:
    """Where records are: paths as ``[rows]`` has them, and what else the document holds
    of such records."""

    at: str = ""
    draws: str = ""
    alternatives: tuple[str, ...] = ()  #: paths of other records with the same fields.
    #: paths of objects with the same keys, which may hold further fields of the
    #: records.
    parallel: tuple[str, ...] = ()
    #: keys of the records, where each is a task of which the document states figures.
    task_keys: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()  #: keys beside them of what is no record.


def location_of(document: Any) -> RecordLocation:
    """The likeliest place of records in a document; the document itself where none is
    likelier."""
    found = list(_locations(document, "", None))
    best = None
    if found:
        best = max(enumerate(found), key=lambda item: (_weight(*item[1]), -item[0]))[1]
    task_keys = _stated_figures(document)
    if task_keys is not None and (best is None or _is_inside(best, task_keys.at)):
        return task_keys
    if best is None:
        return RecordLocation()
    return replace(
        best[0],
        alternatives=tuple(_alternatives(best, found)),
        parallel=tuple(_parallel(best[2], best[0].at)),
    )


#: Words for what figures lie in, which name no task.
AROUND_FIGURES = frozenset(
    "metric metrics result results score scores value values data evaluation eval".split()
)


#: Last words of keys of objects that say how much each figure of others counts.
_WEIGHTS = frozenset("weight weights weighting weightings gewichte gewichtung".split())


def _stated_figures(document: Any) -> RecordLocation | None:
    """The tasks of a document of which it states figures; None where it has none, or
    has them in several locations."""
    locations = list(_stated_below(document, ""))
    if len(locations) == 1:
        return locations[0]
    folders = {
        location.at.removesuffix("{}").rpartition(".")[0] for location in locations
    }
    if len(folders) != 1 or any(location.skipped for location in locations):
        return None
    tasks = tuple(
        dict.fromkeys(chain.from_iterable(location.task_keys for location in locations))
    )
    return RecordLocation(f"{folders.pop()}{{}}{{}}", task_keys=tasks)


def _stated_below(value: Any, path: str, depth: int = 0) -> Iterator[RecordLocation]:
    if (
        not isinstance(value, dict)
        or depth > 2
        or any(plain_name(str(key)) in _CONTENT for key in value)
    ):
        return
    tasks = tuple(
        str(key) for key, inner in value.items() if _states_figures(str(key), inner)
    )
    if not tasks:
        for key, inner in value.items():
            yield from _stated_below(
                inner, f"{path}.{path_of(str(key))}".removeprefix("."), depth + 1
            )
    elif not are_numbered(tasks) and not are_models(tasks):
        yield RecordLocation(
            f"{path}{{}}",
            task_keys=tasks,
            skipped=tuple(key for key in map(str, value) if key not in tasks),
        )


def _states_figures(key: str, inner: Any) -> bool:
    """True if an object holds means of a task: broken numbers by names of metrics, and
    nothing of a prompt."""
    if (
        not isinstance(inner, dict)
        or is_metric(key)
        or {*words_of(key)} <= AROUND_FIGURES | AGGREGATES
        or {*words_of(key)[-1:]} & _WEIGHTS
    ):
        return False
    names = {plain_name(str(name)) for name in inner}
    numbers = [
        n
        for name, n in inner.items()
        if isinstance(n, int | float) and grade_of(str(name)) >= Grade.LIKELY
    ]
    return (
        not is_setting([key])
        and not names & _OF_PROMPTS
        and any(number % 1 for number in numbers)
    )


def _is_inside(found: tuple[RecordLocation, Any, Any, int], at: str) -> bool:
    """True if records lie where figures are stated, and are no prompts beside them."""
    location, *_ = found
    return (
        location.at == at
        or location.at.startswith(at.rstrip("{}"))
        and _weight(*found)[0] < 2
    )


def _alternatives(best: Any, found: Sequence[Any]) -> Iterator[str]:
    """Places apart from one whose records have mostly the same fields."""
    location = best[0]
    record = best[1]
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return
    for other, inner, *_ in found:
        apart = not (
            other.at.startswith(location.at) or location.at.startswith(other.at)
        )
        if apart and not other.draws and isinstance(inner, dict):
            common = record.keys() & inner.keys()
            if len(common) * 2 > max(len(record), len(inner)) and _score_grade(
                {key: inner[key] for key in common}
            ):
                yield other.at


def _parallel(around: Any, at: str) -> Iterator[str]:
    """Objects beside one of values by key that hold single values by the same keys, as
    tables by column do."""
    if not isinstance(around, dict) or not at.endswith("{}"):
        return
    folder = at[: at.rfind(".") + 1]
    inner_of = {}
    for key, inner in around.items():
        inner_of[folder + path_of(str(key))] = inner
    values = inner_of.get(at.removesuffix("{}"))
    if not isinstance(values, dict) or keyed_kind(values) != "values":
        return
    for path, inner in inner_of.items():
        same_keys = (
            inner is not values
            and isinstance(inner, dict)
            and inner.keys() == values.keys()
        )
        if same_keys and all(map(_is_scalar, inner.values())):
            yield path


def keyed_kind(value: Any) -> str:
    """The kind of what an object holds under keys that are no names: ``objects``,
    ``lists``, ``values``, or nothing."""
    if not isinstance(value, dict) or len(value) < 2:
        return ""
    inner = list(value.values())
    if all(isinstance(item, dict) for item in inner):
        if _are_alike(list(value), inner):
            return "objects"
        return ""
    keys_are_ids = (
        len(inner) > 2 and are_numbered(list(map(str, value))) or len(inner) >= _MANY
    )
    if not keys_are_ids:
        return ""
    if all(isinstance(item, list) for item in inner):
        if all(map(_is_scalar, chain.from_iterable(inner[:_LOOKED_AT]))):
            return "lists"
        return ""
    kinds = {type(item) for item in inner}
    if kinds <= {int, float, bool} and not any(_is_field(key) for key in value):
        return "values"
    return ""


def _are_alike(keys: Sequence[str], records: Sequence[Mapping[str, Any]]) -> bool:
    """True if objects have most of their fields in common, and are no objects with keys
    of the same kind."""
    if any(_is_field(key) for key in keys) or not any(records):
        return False
    is_told = are_numbered(keys) or _name_models(keys, records)
    if len(records) < 3 and not is_told:
        return False
    looked_at = records[:_LOOKED_AT]
    times = Counter(chain.from_iterable(looked_at))
    common = {
        key for key, count in times.items() if count * 5 >= len(looked_at) and count > 1
    }
    if len(common) > 2 and are_numbered(sorted(common)):
        return False
    fits = 0
    for record in looked_at:
        fits += len(common & record.keys()) * 2 >= len(record)
    return fits * 5 >= len(looked_at) * 4


def _name_models(keys: Sequence[str], records: Sequence[Mapping[str, Any]]) -> bool:
    """True if the keys of records name models, or the fields that all of them have."""
    first, *others = records
    is_same = all(first.keys() == other.keys() for other in others)
    return is_same and (are_models(keys) or are_models(list(map(str, first))))


def _is_field(key: str) -> bool:
    return plain_name(str(key)) in _FAMILIAR


def _locations(
    value: Any, path: str, outer: Any, depth: int = 0
) -> Iterator[tuple[RecordLocation, Any, Any, int]]:
    """Places, with the first record of each, what it lies in, and how many there
    are."""
    if depth > DEPTH:
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
            if (
                _grade_of_keyed(value)
                and grade_of(path.rpartition(".")[2]) > Grade.NEVER
            ):
                yield (
                    RecordLocation(f"{path}{{}}", "[]" if kind == "lists" else ""),
                    value,
                    outer,
                    len(value),
                )
            return
        at, records = _lists_of_records(value, path)
        if records:
            yield from _of_records(at, records, value, len(records), depth)
            return
        prefix = ""
        if path:
            prefix = f"{path}."
        yield from _inside(value, prefix, depth)


def _lists_of_records(value: Mapping[str, Any], path: str) -> tuple[str, list[Any]]:
    """The records in lists below the keys of an object, or of objects in it, and where
    they are; none where they are of several kinds."""
    if _are_lists_of_one_kind(value):
        return f"{path}{{}}[]", list(chain.from_iterable(value.values()))
    if _are_objects_of_lists(value):
        lists = chain.from_iterable(inner.values() for inner in value.values())
        return f"{path}{{}}{{}}[]", list(chain.from_iterable(lists))
    return "", []


def _are_objects_of_lists(value: Mapping[str, Any]) -> bool:
    """True if an object holds objects of such lists: models, and tasks of each."""
    objects = list(value.values())
    if len(objects) < 2 or not all(isinstance(inner, dict) for inner in objects):
        return False
    if any(map(_is_field, map(str, value))) or not all(objects):
        return False
    lists: dict[str, Any] = {}
    for number, inner in enumerate(objects):
        lists |= {f"{number}.{key}": items for key, items in inner.items()}
    return _are_lists_of_one_kind(lists)


def _are_lists_of_one_kind(value: Mapping[str, Any]) -> bool:
    """True if an object holds nothing but lists of records with the same fields: of
    several models, tasks, prompts."""
    lists = list(value.values())
    if (
        len(lists) < 2
        or not all(map(is_list_of_records, lists))
        or any(map(_is_field, map(str, value)))
    ):
        return False
    first = {*lists[0][0]}
    return all(
        len(first & {*items[0]}) * 2 > max(len(first), len(items[0])) for items in lists
    )


def _of_records(
    path: str, records: Sequence[Any], outer: Any, count: int, depth: int
) -> Iterator[Any]:
    record = max(records, key=len)
    yield RecordLocation(path), record, outer, count
    names_prompts = any(plain_name(str(key)) in _OF_PROMPTS for key in record)
    if names_prompts:
        entries = record.items()
    else:
        entries = ()
    for key, inner in entries:
        is_named = grade_of(str(key)) >= Grade.LIKELY
        if is_named and _scores_a_list(inner, record) or _are_draws(key, records):
            yield (
                RecordLocation(path, f"{path_of(str(key))}[]"),
                {**record, key: inner[0]},
                outer,
                count,
            )
            continue
        if not is_list_of_records(inner) or not _score_grade(inner[0]):
            continue
        if _are_prompts(inner[0], record) or are_conditions(
            [item.get(key) for item in records[:_LOOKED_AT]]
        ):
            continue
        if not names_of_metrics(
            [item.get(key) for item in records if isinstance(item.get(key), list)]
        ):
            yield (
                RecordLocation(path, f"{path_of(str(key))}[]"),
                {**inner[0], **record},
                outer,
                count,
            )
    yield from _inside(record, f"{path}.", depth)


def _are_prompts(element: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """True if elements of a list are prompts of their own; a text may be that of a
    generation, and so may an answer where the record has the text of a prompt."""
    own = {plain_name(str(name)) for name in element} & _CONTENT - {"text"}
    around = {plain_name(str(name)) for name in record}
    if around & {"text", *SAMPLE_NAMES["text"]}:
        own -= {*SAMPLE_NAMES["target"]}
    return bool(own)


def _scores_a_list(value: Any, record: Mapping[str, Any]) -> bool:
    """True if a list holds a score for each element of another one: texts of
    generations."""
    if not isinstance(value, list) or not value or not all(map(_is_unit, value)):
        return False
    others = (
        inner
        for inner in record.values()
        if inner is not value and are_beside(inner, value)
    )
    first = chain.from_iterable(inner[:1] for inner in others)
    return any(isinstance(part, str) for part in first)


def _are_draws(key: str, records: Sequence[Any]) -> bool:
    """True if a field holds a verdict for each of several texts beside it, in all
    records: answers of one prompt, whatever the lists are called."""
    looked_at = records[:_LOOKED_AT]
    lists = [record.get(key) for record in looked_at]
    if not all(isinstance(items, list) and len(items) > 1 for items in lists):
        return False
    if grade_of(key) is Grade.NEVER or not _hold_verdicts(lists):
        return False
    first = looked_at[0]
    return any(
        all(_are_texts_beside(record, other, key) for record in looked_at)
        for other in first
        if other != key
    )


def _are_texts_beside(record: Mapping[str, Any], other: str, key: str) -> bool:
    texts = record.get(other)
    if not are_beside(texts, record[key]):
        return False
    return all(isinstance(text, str) for text in texts)  # type: ignore[union-attr]


def _hold_verdicts(lists: Sequence[Any]) -> bool:
    """True if all elements are 0 or 1, or objects with one such number and no other."""
    elements = list(chain.from_iterable(lists))
    if all(isinstance(element, dict) for element in elements):
        numbers = [_only_number(element) for element in elements]
    else:
        numbers = elements
    verdicts = [number for number in numbers if _is_verdict(number)]
    return len(verdicts) == len(elements) and len({*verdicts}) > 1


def _only_number(element: Mapping[str, Any]) -> Any:
    """The number of an object that has one; None of another."""
    numbers = [value for value in element.values() if isinstance(value, int | float)]
    if len(numbers) == 1:
        return numbers[0]
    return None


def _is_verdict(value: Any) -> bool:
    return isinstance(value, bool | int | float) and value in (0, 1)


def are_beside(value: Any, other: Any) -> bool:
    return (
        isinstance(value, list) and isinstance(other, list) and len(value) == len(other)
    )


def _inside(record: Mapping[str, Any], prefix: str, depth: int) -> Iterator[Any]:
    for key, inner in record.items():
        if isinstance(inner, list | dict):
            yield from _locations(
                inner, f"{prefix}{path_of(str(key))}", record, depth + 1
            )


def _are_objects(items: Sequence[Any]) -> bool:
    return all(isinstance(item, dict) for item in items)


def names_of_metrics(lists: Sequence[Sequence[Any]]) -> str:
    """The field that names the elements of lists, where they are metrics and no
    generations; else nothing."""
    filled = [items for items in lists[:_LOOKED_AT] if items and _are_objects(items)]
    for name in METRIC_NAMES:
        named = []
        for items in filled:
            named.append([item.get(name) for item in items])
        texts = list(chain.from_iterable(named))
        if not texts or not all(isinstance(text, str) for text in texts):
            continue
        if (
            all(len({*names}) == len(names) for names in named)
            and len({*texts}) <= max(map(len, named)) * 2
        ):
            return name
    return ""


def _weight(
    location: RecordLocation, record: Any, outer: Any, count: int
) -> tuple[int, ...]:
    """How much speaks for a place: scores beside prompts, scores, known names, how many
    records."""
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return (2, _grade_of_keyed(record), 0, count)
    grade = _score_grade(record)
    if location.draws:
        grade = max(grade, int(Grade.LIKELY))
    familiar = {plain_name(str(key)) for key in record} & _FAMILIAR
    of_prompts = (
        bool(familiar & _OF_PROMPTS) or location.at.endswith("{}") and count > 2
    )
    if (
        not of_prompts
        and isinstance(outer, dict)
        and any(plain_name(str(key)) in _OF_PROMPTS for key in outer)
    ):
        siblings = outer.get(
            location.at.rpartition(".")[2].removesuffix("[]").strip('"')
        )
        of_prompts = bool(names_of_metrics([items_of(siblings)]))
    of_prompts = of_prompts or are_items(location.at, outer)
    likely = 0
    if grade:
        likely = 1 + bool(of_prompts)
    return (likely, grade, len(familiar), count)


def _grade_of_keyed(record: Any) -> int:
    parts: list[Any] = []
    for item in record.values():
        if isinstance(item, list):
            parts += item
        else:
            parts += [item]
    if parts and all(_is_unit(part) for part in parts[:1000]):
        return int(Grade.LIKELY)
    return 0


def _score_grade(record: Any, parents: tuple[str, ...] = ()) -> int:
    """The best grade of a number in a record; 0 where it has none that may well be a
    score."""
    best = 0
    if not isinstance(record, dict):
        return best
    for key, value in record.items():
        if isinstance(value, dict) and len(parents) < 3 and not keyed_kind(value):
            best = max(best, _score_grade(value, (*parents, str(key))))
        elif (
            _is_scalar(value)
            and value is not None
            and not isinstance(number_of(value), Unfit | None)
        ):
            grade = grade_of(str(key), parents)
            if grade >= Grade.LIKELY:
                rank = int(grade)
            else:
                rank = 0
            best = max(best, rank)
    return best


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_unit(value: Any) -> bool:
    return isinstance(value, bool | int | float) and 0 <= value <= 1
