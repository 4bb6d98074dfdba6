"""Rows of one key in a load: settled, or refused with what they differ in."""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.errors import ConflictError
from warehouse.records import (
    parse_json,
)
from warehouse.store.load.same_responses import NEARLY_ALL, SCORERS
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.staging import (
    OF_ROW,
    UNIQUE,
    Dropped,
    OnDuplicate,
    are_apart,
    with_id,
)
from warehouse.store.sql.query_files import query_text


class RowsTwiceError(ConflictError):
    """Several rows of one prompt and draw that say different things. An importer that
    can say what tells them apart has ``tells_apart(source, settings)``.

    Args:
        found: which rows.
        advice: what to do where nothing is known of them.
        keep: the last part of that, which keeps one of them or all.
    """

    def __init__(self, found: str, *, advice: str, keep: str, expected: str) -> None:
        super().__init__(found, advice=f"{advice}{keep}", expected=expected)
        self.keep = keep

    def told_apart(self, words: str) -> str:
        """The message with words on what tells the rows apart."""
        advice = f"{words}; else {self.keep}"
        return str(ConflictError(self.found, expected=self.expected, advice=advice))


def settle_duplicates(
    scratch: Scratch,
    sizes: dict[str, int],
    prompts: Mapping[int, int],
    on_duplicate: OnDuplicate,
    *,
    by_people: bool = False,
) -> Dropped:
    """Keep one row of each fact; returns what was dropped.

    Args:
        scratch: with the tables of :func:`resolve`.
        sizes: how many rows each has; kept up to date.
        prompts: :func:`prompts_of_runs`.
        on_duplicate: what the user said.
        by_people: whether people gave all scores.

    Raises:
        ConflictError: rows that say different things of the same fact, under ``error``.
    """
    keys = {name: key for name, (key, _) in UNIQUE.items() if sizes[name]}
    # only a row may repeat itself, which takes two scores
    if are_apart(sizes, prompts):
        if not scratch.value(
            "select count(*) > 0 from stage_sample where len(scores) > 1"
        ):
            keys.pop("stage_score", None)
        keys = {
            name: key.replace(OF_ROW, "r")
            for name, key in keys.items()
            if key != OF_ROW
        }
    repeated = _repeated(scratch, keys, sizes)
    if not repeated:
        return Dropped()
    scratch.run("create or replace temp table dropped_row (r bigint, is_other boolean)")
    fields: dict[str, None] = {}
    for table in repeated:
        fields |= dict.fromkeys(_differing_fields(scratch, table))
        sizes[table] = _settle(scratch, table, on_duplicate, by_people)
    ((same, other),) = scratch.rows(query_text("ingest", "dropped_counts"))
    return Dropped(same, other, tuple(fields))


def _repeated(
    scratch: Scratch, keys: Mapping[str, str], sizes: Mapping[str, int]
) -> list[str]:
    """The tables, of some, that have several rows of a key."""
    if not keys:
        return []
    facts = [
        f"(select count(*) from (select distinct {key} from {name}))"
        for name, key in keys.items()
    ]
    (counts,) = scratch.rows(f"select {', '.join(facts)}")
    return [
        name for name, count in zip(keys, counts, strict=True) if count < sizes[name]
    ]


def _settle(
    scratch: Scratch, table: str, on_duplicate: OnDuplicate, by_people: bool
) -> int:
    """Keep one row of each fact of a table; how many are left."""
    key, values = UNIQUE[table]
    _refuse_other_questions(scratch, table, key, "s.text")
    if on_duplicate in ("error", "draws"):
        _refuse_conflicts(scratch, table, key, values, by_people)
    order = "r"
    if on_duplicate == "last":
        order = "r desc"
    as_text = f"cast(({values}) as varchar)"
    dropped = query_text("ingest", "dropped_rows").format(
        values=as_text, key=key, order=order, table=table
    )
    scratch.run(f"insert into dropped_row {dropped}")
    kept = (
        f"select * from {table} qualify row_number() over (partition by {key} order by "
        f"{order}) = 1"
    )
    return int(scratch.value(f"create or replace temp table {table} as {kept}"))


def _refuse_conflicts(
    scratch: Scratch, table: str, key: str, values: str, by_people: bool
) -> None:
    n_values = f"count(distinct coalesce(cast(({values}) as varchar), ''))"
    worst = scratch.rows(
        f"select min(r), max(r), count(*) over () from {table} group by {key} having "
        f"{n_values} > 1 order by 1 limit 1"
    )
    if not worst:
        return
    first, second, count = worst[0]
    _refuse_other_questions(scratch, table, key, _CONTENT)
    item, draw = scratch.rows(
        "select w.item, f.draw from stage_row as w join stage_fact as f on f.r = w.r "
        f"where f.r = {first}"
    )[0]
    advice, keep = _remedy(scratch, table, key, first, by_people)
    if count > 1:
        facts = f"{count} facts stand"
    else:
        facts = f"{count} fact stands"
    raise RowsTwiceError(
        f"{facts} twice with different values; first: prompt {item}, draw {draw}, rows "
        f"{first + 1} and {second + 1} of the source",
        expected="one row for each prompt and draw",
        advice=advice,
        keep=keep,
    )


def _remedy(
    scratch: Scratch, table: str, key: str, first: int, by_people: bool
) -> tuple[str, str]:
    """What to do about rows that contradict each other, and what keeps one or all."""
    if not by_people and _are_one_answer(scratch, key, table):
        return f"{SCORERS}; ", "--on-duplicate first or last keeps one of their rows"
    keep = "--on-duplicate draws takes them as generations; first or last keeps one"
    if scratch.value(
        f"select text is not null from stage_sample where rowid = {first}"
    ):
        return "", keep
    return (
        "if anything but the id tells the prompts apart, map it; if they are about one "
        "prompt, ",
        keep,
    )


def _are_one_answer(scratch: Scratch, key: str, table: str) -> bool:
    """True if nearly all facts that stand twice have the same response each time."""
    same = query_text("ingest", "same_answers").format(
        key=", ".join(f"t.{name}" for name in key.split(", ")), table=table
    )
    ((n_facts, n_same, n_responses),) = scratch.rows(same)
    return bool(n_responses > 1 and n_same >= NEARLY_ALL * n_facts)


#: What identifies a prompt besides its id.
_CONTENT = (
    "concat_ws(chr(31), coalesce(s.text, ''), coalesce(s.target, ''), "
    "coalesce(s.choices, ''), s.metadata)"
)


def _differing_fields(scratch: Scratch, table: str) -> list[str]:
    """Fields of metadata in which the first rows of one fact differ that do so."""
    names = UNIQUE[table][0].split(", ")
    columns = ", ".join(f"t.{name}" for name in names)
    pairs = scratch.rows(
        query_text("ingest", "other_metadata").format(key=columns, table=table)
    )
    first, second = ({}, {})
    if pairs:
        first, second = (parse_json(text) for text in pairs[0])
    return sorted(
        name
        for name in first.keys() | second.keys()
        if first.get(name) != second.get(name)
    )


def _refuse_other_questions(
    scratch: Scratch, table: str, key: str, fields: str
) -> None:
    """Refuse rows of one id that are about different prompts: whichever is dropped, the
    mean is wrong."""
    columns = ", ".join(f"t.{name}" for name in key.split(", "))
    text = query_text("ingest", "other_questions").format(
        key=columns, table=table, fields=fields
    )
    ((n, first, second),) = scratch.rows(text)
    if not n:
        return
    item = scratch.value(f"select item from stage_row where r = {first}")
    fields_apart = _differing_fields(scratch, table)
    other_id = "another prompt_id"
    if fields_apart:
        other_id = with_id(fields_apart)
    if n > 1:
        places = f"{n} places"
    else:
        places = f"{n} place"
    raise ConflictError(
        f"rows of one id are about different prompts, in {places}; first: id {item}, "
        f"rows {first + 1} and {second + 1} of the source",
        expected="one prompt for each id",
        advice=(
            f'map what tells the prompts apart: {other_id}, or key = ["text", "target"]'
        ),
    )
