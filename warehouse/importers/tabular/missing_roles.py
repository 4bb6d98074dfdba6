"""What a table without a mapping lacks, and by which names it is looked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from warehouse.importers.tabular.column_names import (
    RUN_NAMES,
    SAMPLE_NAMES,
    SCORE_NAMES,
    Guess,
)

#: What every table has to say, and what of it the columns of these names do.
ROLES = {
    "model": ("names the model", ("model", *RUN_NAMES["model"])),
    "benchmark": ("names the benchmark", ("benchmark", *RUN_NAMES["benchmark"])),
    "prompt_id": (
        "tells the questions apart",
        ("prompt_id", *SAMPLE_NAMES["prompt_id"], "text", *SAMPLE_NAMES["text"]),
    ),
    "score": ("holds scores", tuple(SCORE_NAMES)),
}
#: Names that are told of each, and columns of the table.
_NAMES, _COLUMNS = 8, 12


def missing_roles(guessed: Guess, given: Collection[str] = ()) -> list[str]:
    """The roles that no column has.

    Args:
        guessed: what the columns are by their names.
        given: fields that the user has set, which need no column.
    """
    has = {*given, *guessed.run}
    if guessed.key or "prompt_id" in guessed.sample:
        has.add("prompt_id")
    if guessed.scores:
        has.add("score")
    return [role for role in ROLES if role not in has]


def in_words(missing: Sequence[str], columns: Sequence[str]) -> str:
    """What is missing, by which names it would have been read, and which columns there
    are instead."""
    said = []
    for role in missing:
        what, names = ROLES[role]
        said.append(f"no column {what}: {_some(names, _NAMES)} are read")
    return f"{'; '.join(said)}; columns here: {_some(columns, _COLUMNS)}"


def _some(names: Sequence[str], most: int) -> str:
    more = ""
    if len(names) > most:
        more = f" and {len(names) - most} more"
    return ", ".join(names[:most]) + more
