"""Prompts that are one question under several keys: joined to a canonical one, never
merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import find_named
from warehouse.store.curate.prompts_within import questions_within, read_texts
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

By = Literal["text", "id", "within"]
#: Canonical prompt of a prompt, and how that was found.
Link = tuple[int, str]

#: What must be equal in two prompts that are one.
_MATCH: dict[str, str] = {
    "text": "text_hash",
    "id": "coalesce(tool_id, case when key_kind = 'id' then key end)",
}


@dataclass(frozen=True)
class LinkReport:
    """The outcome of :func:`link`, in prompts of the first benchmark."""

    n_linked: int  #: now joined to a prompt of the other.
    n_already: int  #: joined to it before.
    n_unmatched: int  #: the other has none that is equal.
    n_ambiguous: int  #: several are equal, here or there; left alone.

    def __str__(self) -> str:
        return (
            f"{self.n_linked} prompts linked, {self.n_already} were linked already, "
            f"{self.n_unmatched} without a match, {self.n_ambiguous} ambiguous"
        )


@dataclass(frozen=True)
class LinkEntry:
    """Prompts of one benchmark that are joined to prompts of another."""

    benchmark: str
    canonical_benchmark: str
    method: str
    n_prompts: int


@dataclass
class _Asked:
    """A prompt of a text that another prompt has too."""

    target: str | None
    choices: str | None
    runs: set[int] = field(default_factory=set)  #: that have a score of it.


def links(store: Store) -> list[LinkEntry]:
    """How many prompts are joined, by pair of benchmarks."""
    return [
        LinkEntry(**row) for row in store.rows(query_text("store", "linked_benchmarks"))
    ]


def link(
    store: Store, benchmark: str, canonical: str, *, by: By = "text"
) -> LinkReport:
    """Join the prompts of a benchmark to the equal ones of another (MisuseError: no
    such benchmark).

    Where both are one benchmark, its prompts of equal text are joined whose ids differ,
    as two tools or two tables give them; by id, those without content (known by id or
    position alone) to those with content. Left alone are prompts of which a run was
    asked several, and those of other targets or options.

    Args:
        store: a store open for writing.
        benchmark: whose prompts are joined.
        canonical: whose prompts they are joined to.
        by: ``"text"``, the normalised question; ``"id"``, the tool's own id;
            ``"within"``, the question of one stands whole in the prompt of the other,
            with examples or instructions around it.
    """
    with store.changing_catalogue() as connection:
        here, there = (
            find_named(connection, "benchmark", name).id
            for name in (benchmark, canonical)
        )
        links = _links(connection)
        if by == "within":
            report = _match_held(store, here, there, links)
        elif here == there and by == "text":
            report = _match_within(store, here, links)
        else:
            mine = _prompts(store, here, by, content=False if here == there else None)
            theirs = _unique(
                _prompts(store, there, by, content=True if here == there else None)
            )
            report = _match(mine, theirs, links, by)
        if report.n_linked:
            _rewrite(store, connection, links)
    return report


def unlink(store: Store, benchmark: str) -> int:
    """Take the prompts of a benchmark apart from those they were joined to
    (MisuseError: no such benchmark).

    Returns:
        how many.
    """
    table = tables.prompt_link
    with store.changing_catalogue() as connection:
        number = find_named(connection, "benchmark", benchmark).id
        prompts = sa.select(tables.prompt.c.id).where(
            tables.prompt.c.benchmark_id == number
        )
        condition = table.c.prompt_id.in_(prompts)
        count = connection.execute(
            sa.select(sa.func.count()).select_from(table).where(condition)
        ).scalar_one()
        connection.execute(sa.delete(table).where(condition))
    return int(count)


def _prompts(
    store: Store, benchmark: int, by: By, *, content: bool | None
) -> list[tuple[int, Any]]:
    """Id and matching value of the prompts of a benchmark; ``content`` chooses among
    them."""
    kinds = {
        None: "",
        True: " and key_kind = 'content'",
        False: " and key_kind <> 'content'",
    }
    prompts = store.arrow(
        f"select id, {_MATCH[by]} as value from prompt where benchmark_id = "
        f":benchmark{kinds[content]} order by id",
        {"benchmark": benchmark},
    )
    return list(
        zip(prompts["id"].to_pylist(), prompts["value"].to_pylist(), strict=True)
    )


def _unique(prompts: Iterable[tuple[int, Any]]) -> dict[Any, int | None]:
    """Prompt by matching value; ``None`` where several prompts share it."""
    prompt_by_value: dict[Any, int | None] = {}
    for prompt, value in prompts:
        if value is not None:
            if value in prompt_by_value:
                prompt_by_value[value] = None
            else:
                prompt_by_value[value] = prompt
    return prompt_by_value


def _links(connection: sa.Connection) -> dict[int, Link]:
    table = tables.prompt_link
    query = sa.select(table.c.prompt_id, table.c.canonical_prompt_id, table.c.method)
    return {
        int(row[0]): (int(row[1]), str(row[2]))
        for row in connection.execute(query.order_by(table.c.prompt_id))
    }


def _match(
    mine: list[tuple[int, Any]],
    theirs: Mapping[Any, int | None],
    links: dict[int, Link],
    by: By,
) -> LinkReport:
    """Add the links of equal prompts to those that are known."""
    counts = Counter(value for _, value in mine)
    outcomes: Counter[str] = Counter()
    for prompt, value in mine:
        other = theirs.get(value)
        if value not in theirs:
            outcomes["unmatched"] += 1
        elif other is None or counts[value] > 1:
            outcomes["ambiguous"] += 1
        elif (target := _end(links, other)) == _end(links, prompt):
            outcomes["already"] += 1
        else:
            links[_end(links, prompt)] = (target, by)  # with what it is joined to
            outcomes["linked"] += 1
    return LinkReport(
        outcomes["linked"],
        outcomes["already"],
        outcomes["unmatched"],
        outcomes["ambiguous"],
    )


def _match_within(store: Store, benchmark: int, links: dict[int, Link]) -> LinkReport:
    """Add the links of prompts of one benchmark that ask the same under other ids."""
    of_benchmark = {"benchmark": benchmark}
    groups: dict[str, dict[int, _Asked]] = {}
    for row in store.rows(query_text("store", "prompts_of_equal_text"), of_benchmark):
        prompts = groups.setdefault(row["value"], {})
        asked = prompts.setdefault(row["id"], _Asked(row["target"], row["choices"]))
        if row["run_id"] is not None:
            asked.runs.add(row["run_id"])
    n_all = store.rows(
        "select count(*) as n from prompt where benchmark_id = :benchmark", of_benchmark
    )[0]["n"]
    outcomes: Counter[str] = Counter(unmatched=n_all - sum(map(len, groups.values())))
    for prompts in groups.values():
        first, *others = prompts
        is_one = _are_one_question([*prompts.values()])
        for other in others:
            if not is_one:
                outcomes["ambiguous"] += 1
            elif (target := _end(links, first)) == _end(links, other):
                outcomes["already"] += 1
            else:
                links[_end(links, other)] = (target, "text")
                outcomes["linked"] += 1
    return LinkReport(
        outcomes["linked"],
        outcomes["already"],
        outcomes["unmatched"],
        outcomes["ambiguous"],
    )


def _match_held(
    store: Store, here: int, there: int, links: dict[int, Link]
) -> LinkReport:
    """Add the links of prompts that hold, or stand in, a prompt of the other benchmark;
    what holds it is joined to the question alone."""
    texts = read_texts(store, sorted({here, there}))
    mine = [asked for asked in texts if asked.benchmark == here]
    theirs = [asked for asked in texts if asked.benchmark == there]
    within = questions_within(mine, theirs)
    n_linked = n_already = 0
    for longer, shorter in within.pairs:
        target = _end(links, shorter)
        if target == _end(links, longer):
            n_already += 1
        else:
            links[_end(links, longer)] = (target, "within")
            n_linked += 1
    n_left = len(mine) - len(within.pairs) - within.n_ambiguous
    if here == there:  # both of a pair are prompts of it
        n_left -= len(within.pairs)
    return LinkReport(n_linked, n_already, max(n_left, 0), within.n_ambiguous)


def _are_one_question(prompts: Sequence[_Asked]) -> bool:
    """True where all have the same target and options, as far as they have any, and no
    run was asked two of them."""
    targets = {prompt.target for prompt in prompts} - {None}
    choices = {prompt.choices for prompt in prompts} - {None}
    if len(targets) > 1 or len(choices) > 1:
        return False
    runs: list[int] = []
    for prompt in prompts:
        runs += prompt.runs
    return len(runs) == len(set(runs))


def _end(links: Mapping[int, Link], prompt: int) -> int:
    """The prompt that a chain of links ends at."""
    while prompt in links:
        prompt = links[prompt][0]
    return prompt


def _rewrite(
    store: Store, connection: sa.Connection, links: Mapping[int, Link]
) -> None:
    """Replace all stored links by these; views follow one step only."""
    table = tables.prompt_link
    connection.execute(sa.delete(table))
    first = allocate(connection, table.name, len(links))
    rows = pa.table(
        {
            "id": pa.array(range(first, first + len(links)), pa.int64()),
            "prompt_id": pa.array(list(links), pa.int64()),
            "canonical_prompt_id": pa.array(
                [_end(links, target) for target in links], pa.int64()
            ),
            "method": pa.array([method for _, method in links.values()], pa.string()),
        }
    )
    store.dialect.append(connection, table.name, rows, Counter())
