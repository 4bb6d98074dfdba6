"""Gaps of stored prompts, filled by a later source that knows it.

A question, target, list of options or field of the document that is stored stays; where
a source says another, a note tells. So the order of sources plays no part unless they
contradict each other.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.load.prompt_statements import (
    COLUMNS,
    Unsaid,
    Word,
    Words,
    fields_of,
)
from warehouse.store.load.scratch import Scratch
from warehouse.store.sql.query_files import query_text

#: What is known of prompts is forgotten beyond this number of them, to bound memory.
SETTLED = 500_000

_COLUMNS = {
    "id": pa.int64(),
    "tool_id": pa.string(),
    "text_hash": pa.binary(),
    "text": pa.string(),
    "target": pa.string(),
    "choices": pa.string(),
    "metadata": pa.string(),
}

Row = Mapping[str, Any]

#: Columns of samples that say something of prompts.
_SAID = {"text", "target", "choices", "metadata"}


#: What to do, by what differs.
_OTHERS = {
    "question": "; where that is only its wording (a template, examples before it) all is well; where it is another"
    " question, models are compared on different ones: `warehouse fix forget` this source, "
    "and ingest it with --set benchmark=NAME of its own"
}


@dataclass
class Filled:
    """Additions of a source to stored prompts."""

    #: of ``filled_prompt``: only what the prompt lacks; ``metadata`` is the whole
    #: document.
    rows: list[dict[str, Any]] = field(default_factory=list)
    #: keys of the prompts of which the source says something else, by what it is.
    differing: dict[str, list[str]] = field(default_factory=dict)
    #: ids of the prompts that lacked something, or of which it says something else.
    unlike: set[int] = field(default_factory=set)
    #: what it says of each that is not what stands.
    words: Words = field(default_factory=Words)

    @property
    def has_metadata(self) -> bool:
        """Documents got fields that they lacked: prompts may belong to a cluster now."""
        return any(row["metadata"] is not None for row in self.rows)

    def notes(self) -> Iterable[str]:
        """Notes on what differs, for the ledger."""
        for what, keys in self.differing.items():
            several = "1 prompt has"
            if len(keys) > 1:
                several = f"{len(keys)} prompts have"
            yield (
                f"{several} another {what} in the store, which stays; first: prompt "
                f"{keys[0]}{_OTHERS.get(what, '')}"
            )


class SettledPrompts:
    """Prompts that a session knows to be in the store: of which prompts a source said
    what, so that the next one that says the same need not be held against them. Nothing
    that a prompt has is ever taken from it.

    It is a scratch table of ids and hashes; :meth:`forget` drops them when a
    transaction fails.
    """

    def __init__(self, *, once: bool = False) -> None:
        self._once = once  # no source comes after the first, which might say the same
        self._stands = False
        self._unsaid: list[Unsaid] = [
            Unsaid()
        ]  # of the prompts that are settled, by number

    def forget(self) -> None:
        """Know nothing: what was just written may not be stored."""
        self._stands = False

    def unsettled(self, scratch: Scratch) -> int:
        """How many prompts of the staged source are not known to be stored as it says;
        they are in ``unsettled_prompt``."""
        if self._once:
            return scratch.script("first_prompt")
        if (
            not self._stands
            or scratch.value("select count(*) from settled_prompt") > SETTLED
        ):
            scratch.run(
                "create or replace temp table settled_prompt (prompt_id bigint, said "
                "ubigint, unsaid_no integer)"
            )
            self._stands, self._unsaid = True, [Unsaid()]
        scratch.script("said_hash")
        return scratch.script("unsettled_prompt")

    def unsaid(self, scratch: Scratch) -> dict[Unsaid, list[int]]:
        """Parts that the source does not say of prompts that are known to be stored as
        it says, with the ids of these."""
        if self._once or len(self._unsaid) == 1:
            return {}
        found: dict[Unsaid, list[int]] = {}
        for prompt, number in scratch.rows(query_text("ingest", "settled_unsaid")):
            found.setdefault(self._unsaid[number], []).append(prompt)
        return found

    def settle(self, scratch: Scratch, filled: Filled | None = None) -> None:
        """The prompts in ``unsettled_prompt`` are stored as the source says, but for
        some."""
        if self._once:
            return
        if filled is None:
            other = set()
        else:
            other = filled.unlike
        if filled is None:
            words = {}
        else:
            words = filled.words.by_prompt
        lacking = {
            prompt: self._number(word.unsaid)
            for prompt, word in words.items()
            if prompt not in other
        }
        scratch.put("unlike", pa.table({"prompt_id": pa.array(other, pa.int64())}))
        scratch.put(
            "lacking",
            pa.table(
                {
                    "prompt_id": pa.array(list(lacking), pa.int64()),
                    "unsaid_no": pa.array(list(lacking.values()), pa.int32()),
                }
            ),
        )
        # what earlier sources had said of them is no more all of it
        if filled is not None and filled.words.gained:
            scratch.run(
                "delete from settled_prompt where prompt_id in (select prompt_id from "
                "unlike)"
            )
        scratch.script("settle_prompts")
        scratch.drop(["said_hash", "unsettled_prompt", "unlike", "lacking"])

    def _number(self, unsaid: Unsaid) -> int:
        if unsaid not in self._unsaid:
            self._unsaid.append(unsaid)
        return self._unsaid.index(unsaid)


def says_anything(scratch: Scratch, columns: Collection[str]) -> bool:
    """True if the staged sources say anything of their prompts but what they are known
    by."""
    return not _SAID.isdisjoint(columns) and bool(
        scratch.rows(
            "select 1 from stage_sample where coalesce(text, target, choices, "
            "metadata) is not null limit 1"
        )
    )


def fill(
    store: Store,
    scratch: Scratch,
    settled: SettledPrompts,
    benchmark_ids: Sequence[int],
    columns: Collection[str],
    *,
    several: bool,
    n_new: int,
    n_rows: int,
) -> Filled | None:
    """Complete stored prompts by what the staged sources say of them.

    Needs an open transaction and the tables of :func:`staging.number_items` and
    :func:`staging.resolve`.

    Args:
        store: with an open transaction.
        scratch: with one source staged, or with ``several``.
        settled: what this session knows of the store.
        benchmark_ids: of their runs.
        columns: of samples, that may hold anything.
        several: whether several sources are staged.
        n_new: how many of their prompts these very sources have brought.
        n_rows: how many rows they have.

    Returns:
        what was filled; None if several sources say different things of one prompt.
    """
    n_unsettled = settled.unsettled(scratch)
    if several and scratch.value("select bool_or(varies) from said_hash"):
        return None
    words = Words(settled=settled.unsaid(scratch))
    if not n_unsettled:
        return Filled(words=words)
    # of a prompt with one row all that is said is stored
    if n_new == n_rows or (
        are_new(scratch, n_new, n_rows) and not _may_lack(scratch, columns)
    ):
        settled.settle(scratch)
        return Filled(words=words)
    filled = _gaps(scratch, benchmark_ids, columns)
    if filled.rows and engines.is_shared(store.connection):
        store.dialect.prepare(store.connection)  # nobody else completes them in between
        filled = _gaps(scratch, benchmark_ids, columns)
    if filled.rows:
        scratch.put("filled_prompt", _as_table(filled.rows))
        scratch.change("prompt", "filled_prompt", query_text("ingest", "fill_prompt"))
        scratch.drop(["filled_prompt"])
    scratch.drop(["stored_prompt", "said_prompt"])
    settled.settle(scratch, filled)
    filled.words.settled = words.settled
    return filled


#: A column that says nothing in the first row of a prompt, and something in another row.
_LACKING = (
    "(exists (select 1 from first_row where {0} is null) and exists (select 1 from "
    "stage_sample where {0} is not null))"
)


def _may_lack(scratch: Scratch, columns: Collection[str]) -> bool:
    """True if new prompts lack something that another row of the source may say."""
    said = sorted(_SAID.intersection(columns))
    lacking = " or ".join(_LACKING.format(name) for name in said) or "false"
    query = query_text("ingest", "unsaid_prompts").format(lacking=lacking)
    return bool(scratch.value(query))


def are_new(scratch: Scratch, n_new: int, n_rows: int) -> bool:
    """True if the staged sources, of so many rows, have brought all their prompts."""
    if not n_new or n_new == n_rows:
        return bool(n_new)
    counted = scratch.value("select count(distinct prompt_id) from stage_prompt")
    return bool(counted == n_new)


def note_on_mixed(scratch: Scratch) -> str:
    """Says of a source how many of its ids ask several questions; empty where none
    does.

    Their draws would be taken for answers to one question, and errors come out too
    small or too large.
    """
    if not scratch.value(query_text("ingest", "repeated_ids")):
        return ""
    ((n, first),) = scratch.rows(query_text("ingest", "mixed_questions"))
    if not n:
        return ""
    if n == 1:
        several = "1 prompt id asks"
    else:
        several = f"{n} prompt ids ask"
    return (
        f"{several} different questions in different rows, which count as draws of one "
        "prompt, by the first question; is this the column of ids? first: prompt "
        f"{str(first)[:40]}"
    )


def _gaps(
    scratch: Scratch, benchmark_ids: Sequence[int], columns: Collection[str]
) -> Filled:
    ((first, last),) = scratch.rows(
        "select min(prompt_id), max(prompt_id) from unsettled_prompt"
    )
    within = {"benchmarks": sorted(set(benchmark_ids)), "first": first, "last": last}
    scratch.pull("stored_prompt", query_text("ingest", "stored_prompt"), within)
    scratch.script("said_prompt")
    has = {f"has_{name}": name in columns for name in COLUMNS[1:]} | {
        "has_tool_id": "prompt_id" in columns
    }
    incoming = scratch.table(query_text("ingest", "other_prompt"), has).to_pylist()
    filled = Filled()
    if incoming:
        scratch.pull(
            "stored_detail",
            query_text("ingest", "stored_detail"),
            {"ids": [row["id"] for row in incoming]},
        )
        stored = {
            row["id"]: row
            for row in scratch.table("select * from stored_detail").to_pylist()
        }
        scratch.drop(["stored_detail"])
        for row in incoming:
            _compare(filled, row, stored[row["id"]])
    return filled


def _compare(filled: Filled, incoming: Row, stored: Row) -> None:
    """Add to ``filled`` what one prompt lacks, and in what it differs."""
    values: dict[str, Any] = dict.fromkeys(_COLUMNS)
    unsaid: set[str] = set()
    otherwise: dict[str, Any] = {}
    if incoming["text"] is None:
        if not incoming["lacks_text"]:
            unsaid.add("text")
    elif incoming["lacks_text"]:
        values |= {"text": incoming["text"], "text_hash": incoming["text_hash"]}
    elif incoming["text_differs"] and not _is_one_document(incoming, stored):
        _differs(filled, "question", incoming)
        otherwise["text"] = incoming["text"]
    _compare_values(filled, incoming, stored, values, unsaid, otherwise)
    fields = _compare_documents(filled, incoming, stored, values, otherwise)
    if fields is None:
        unsaid.add("metadata")
    if gained := _gained(stored, values):
        filled.rows.append(values | {"id": incoming["id"]})
        filled.unlike.add(incoming["id"])
        filled.words.gained[incoming["id"]] = gained
    word = Word(Unsaid(frozenset(unsaid), fields or frozenset()), otherwise)
    if word.unsaid or word.otherwise:
        filled.words.by_prompt[incoming["id"]] = word


def _compare_values(
    filled: Filled,
    incoming: Row,
    stored: Row,
    values: dict[str, Any],
    unsaid: set[str],
    otherwise: dict[str, Any],
) -> None:
    """Add of the columns that are neither question nor document what a prompt lacks to
    ``values``, what the source does not say to ``unsaid``, and in what it differs to
    ``otherwise``."""
    for name, what in (
        ("tool_id", ""),
        ("target", "target"),
        ("choices", "list of options"),
    ):
        if stored[name] is None:
            values[name] = incoming[name]
        elif incoming[name] is None:
            unsaid.add(name)
        elif not _same(name, incoming[name], stored[name]):
            if name == "choices":
                otherwise[name] = json.loads(incoming[name])
            else:
                otherwise[name] = incoming[name]
            if what:
                _differs(filled, what, incoming)
            else:
                filled.unlike.add(incoming["id"])


def _compare_documents(
    filled: Filled,
    incoming: Row,
    stored: Row,
    values: dict[str, Any],
    otherwise: dict[str, Any],
) -> frozenset[str] | None:
    """Add what a prompt's document lacks to ``values``, and in what it differs to
    ``otherwise``; the fields of the stored one that the source does not say; None: it
    says nothing of the document."""
    if incoming["metadata"] is None:
        if stored["metadata"] is not None:
            return None
        return frozenset()
    if stored["metadata"] is None:
        values["metadata"] = incoming["metadata"]
        return frozenset()
    document = json.loads(incoming["metadata"])
    standing = json.loads(stored["metadata"])
    if not (isinstance(document, dict) and isinstance(standing, dict)):
        if document != standing:
            _differs(filled, "document", incoming)
            otherwise["metadata"] = fields_of(document)
        return frozenset()
    new = fields_of(document)
    old = fields_of(standing)
    lacking = {name: value for name, value in new.items() if name not in old}
    if lacking:
        values["metadata"] = _as_json(standing | lacking)
    differing = {
        name: value for name, value in new.items() if name in old and value != old[name]
    }
    for name in differing:
        _differs(filled, f"field {name}", incoming)
    if differing:
        otherwise["metadata"] = differing
    return frozenset(old.keys() - new.keys())


def _gained(stored: Row, values: Row) -> Unsaid:
    """Parts that a prompt is given, which it lacked."""
    columns = {name for name in COLUMNS if values[name] is not None}
    if values["metadata"] is None or stored["metadata"] is None:
        return Unsaid(frozenset(columns))
    before = fields_of(json.loads(stored["metadata"]))
    return Unsaid(
        frozenset(columns - {"metadata"}),
        frozenset(fields_of(json.loads(values["metadata"])).keys() - before),
    )


def _is_one_document(incoming: Row, stored: Row) -> bool:
    """True if the same document is only worded otherwise: by its template, or by
    examples before it."""
    if (
        incoming["key_kind"] != "content"
        or incoming["metadata"] is None
        or stored["metadata"] is None
    ):
        return False
    return bool(json.loads(incoming["metadata"]) == json.loads(stored["metadata"]))


def _differs(filled: Filled, what: str, incoming: Row) -> None:
    filled.unlike.add(incoming["id"])
    filled.differing.setdefault(what, []).append(str(incoming["key"])[:40])


def _same(name: str, incoming: str, stored: str) -> bool:
    if name != "choices":  # as the store keeps it
        return incoming.replace("\0", "\ufffd") == stored.replace("\0", "\ufffd")
    return bool(json.loads(incoming) == json.loads(stored))


def _as_json(document: Mapping[str, Any]) -> str:
    compact = (",", ":")
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=compact)
    if text == text.encode("utf-8", "replace").decode():
        return text
    return json.dumps(document, sort_keys=True, separators=compact)  # a lone surrogate


def _as_table(rows: Sequence[Row]) -> pa.Table:
    columns: dict[str, pa.Array] = {}
    for name, kind in _COLUMNS.items():
        columns[name] = pa.array([row[name] for row in rows], kind)
    return pa.table(columns)
