"""Who gave the scores of a row: people, a judge, or a program, by what columns say.

Scores of several are figures of their own: a judge's and people's are not two draws of
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.importers.tabular.column_names import looks_like_model
from warehouse.importers.tabular.columns import Unfit, text_of
from warehouse.records import parse_json

#: How people as a whole are called.
PEOPLE = "people"
_KINDS = ("match", "model", "execution", "human")
_WORDS_FOR_PEOPLE = frozenset(
    "human humans people person persons expert experts crowd crowdworker crowdworkers annotator annotators".split()
)
#: Fields of an object that describes a judge, the likeliest first, that name it.
_NAMES_IN_OBJECT = ("model", "model_name", "model_id", "name", "id")
#: Fields of it that say whether it describes people.
_KINDS_IN_OBJECT = ("type", "kind")
#: How scorers that ask a model are called: they are no names of models.
_GRADED_BY_MODEL = ("model_graded", "llm", "modelgraded")


def scorer_of(said: Mapping[str, Any]) -> dict[str, str] | Unfit:
    """Fields of a metric that say who scored.

    Args:
        said: values of the fields of ``[scorer]`` in one row; null where nothing is
            said.

    Returns:
        ``scorer``, ``scorer_kind`` and ``judge_model``, as far as they are known; none
        where nobody is named. People are one scorer, whoever of them it was: what
        several of them say of one answer are draws.
    """
    texts = {name: _name_in(value) for name, value in said.items() if value is not None}
    kind = texts.get("scorer_kind", "")
    if kind and kind not in _KINDS:
        return Unfit(repr(kind)[:60], f"one of {', '.join(_KINDS)}")
    scorer, judge, annotator = (
        texts.get(name, "") for name in ("scorer", "judge_model", "annotator")
    )
    if not judge and looks_like_model(annotator):
        judge = annotator
    elif not judge and scorer.lower().startswith(_GRADED_BY_MODEL):
        kind = kind or "model"
    elif not judge and kind in ("", "model") and looks_like_model(scorer):
        judge, scorer = scorer, ""
    if (
        kind == "human"
        or _is_people(judge)
        or (not judge and (annotator or _is_people(scorer)))
    ):
        return {"scorer": PEOPLE, "scorer_kind": "human"}
    if judge:
        return {"scorer": scorer, "scorer_kind": kind or "model", "judge_model": judge}
    if scorer:
        return {"scorer": scorer, "scorer_kind": kind or "match"}
    if kind:
        return {"scorer_kind": kind}
    return {}


def _name_in(value: Any) -> str:
    """A value as a name; of an object that describes a judge the model that it names,
    of one of people ``PEOPLE``."""
    text = str(text_of(value)).strip()
    if not text.startswith("{"):
        return text
    try:
        said = parse_json(text)
    except ValueError:
        return text
    if any(_is_people(str(said.get(name))) for name in _KINDS_IN_OBJECT):
        return PEOPLE
    for name in _NAMES_IN_OBJECT:
        named = said.get(name)
        if isinstance(named, str):
            return named.strip()
    return text


def _is_people(name: str) -> bool:
    return name.lower() in _WORDS_FOR_PEOPLE
