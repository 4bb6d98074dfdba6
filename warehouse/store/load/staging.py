"""From sample batches to scratch tables with ids, in the scratch space.

Order of the steps: :func:`fill` (batches in) and :func:`number_items` (keys,
occurrences), which a parser may do ahead; then :func:`resolve` (ids of prompts,
variants and metrics joined on), :func:`settle_duplicates`, :func:`measure` (digest and
counts of each run). Nothing here writes to the store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import InputError
from warehouse.records import (
    SAMPLE_SCHEMA,
    BulkQuery,
    Dump,
    SameContent,
    content_key,
)
from warehouse.store import engines
from warehouse.store.load.scratch import ROWS_OF_A_GROUP, Scratch
from warehouse.store.load.stage_scans import fill_scans, fill_votes
from warehouse.store.sql.query_files import query_text

OnDuplicate = Literal["error", "first", "last", "draws"]
TextPolicy = Literal["all", "responses", "none"]

#: Remembered content keys are forgotten beyond this number, to bound memory.
KNOWN_KEYS = 500_000
#: Prompts sent are remembered up to this number: none is forgotten, since a source may
#: have been parsed meanwhile.
KNOWN_TEXTS = 200_000
#: Of long rows as many bytes are brought in at a time, of short ones as many as the
#: engine keeps together.
BYTES_OF_A_GROUP = 64 << 20
#: Identities whose keys are computed at a time.
KEY_BLOCK = 50_000


#: What parsing makes, in the slot of the source: of rows of samples, of scans, of votes.
_GIVEN = "stage_given"
_OF_ROWS = (
    "stage_variant",
    "stage_row",
    "stage_item",
    "stage_said",
    "stage_transcript",
)
_SCANS, _VOTES = "stage_scan", "stage_vote"
PARSED = (_GIVEN, *_OF_ROWS, _SCANS, _VOTES)


def parse(
    scratch: Scratch, dumps: Sequence[Dump], on_duplicate: OnDuplicate, text: TextPolicy
) -> tuple[int, set[str]]:
    """Everything that needs no store: :data:`PARSED` of some dumps; returns the number
    of rows, and the columns of samples that may hold anything."""
    n_rows, columns = fill(scratch, dumps)
    scratch.fit_threads(n_rows)
    fill_scans(scratch, dumps)
    fill_votes(scratch, dumps)
    if n_rows:
        belong_together = any(
            dump.same_content and dump.same_content.belong_together for dump in dumps
        )
        number_items(
            scratch,
            on_duplicate,
            has_identities="identity" in columns,
            belong_together=belong_together,
        )
        scratch.give_back(n_rows)
        gather_texts(scratch, text, columns)
    return n_rows, columns


#: Columns of samples that have served once rows have their items: their texts are in
#: `stage_text`, and hashes to look up are wider than Arrow's numbers.
_SERVED = (
    "identity",
    "identity_hash",
    "sent_hash",
    "prompt_sent",
    "response",
    "transcript",
)


def parsed_rows(
    scratch: Scratch, dumps: Sequence[Dump], n_rows: int
) -> Iterator[tuple[str, pa.RecordBatchReader]]:
    """Rows that :func:`parse` has made of some dumps, table by table, for a scratch
    space elsewhere."""
    names = [_GIVEN]
    if n_rows:
        names += _OF_ROWS
    if any(dump.scan for dump in dumps):
        names.append(_SCANS)
    if any(dump.votes is not None for dump in dumps):
        names.append(_VOTES)
    for name in names:
        columns = "*"
        if name == _GIVEN:
            columns = f"columns(lambda c: c not in {_SERVED})"
        source = name
        if name == "stage_said":
            source = "stage_text"
        rows = scratch.raw.sql(f"select {columns} from {source}")
        yield name, rows.to_arrow_reader(65_536)


def fill(scratch: Scratch, dumps: Sequence[Dump]) -> tuple[int, set[str]]:
    """Bring every batch into ``stage_given``; returns the number of rows, and the
    columns that may hold anything.

    The runs of several dumps are numbered through. ``stage_origin`` says of each run
    which row is the first of its dump: what has no id is known by its place in the
    dump.

    Raises:
        InputError: a query over the files failed and no reason was found row by row.
    """
    scratch.run(
        "create temp table if not exists known_key "
        "(identity_hash uhugeint, key varchar, key_no bigint, key_hash ubigint)"
    )
    origins: list[dict[str, Any]] = []
    total, given = 0, _Given(scratch)
    read: list[pa.RecordBatch] = []  # and not in the table yet
    for dump in dumps:
        first = total
        for batch in dump.batches:
            if isinstance(batch, BulkQuery):
                given.fill_arrow(read)
                read = []
                total += given.fill_reading(batch, len(origins))
                continue
            read.append(_moved(batch, len(origins)))
            total += batch.num_rows
            if len(dumps) == 1 and _is_enough(read):
                given.fill_arrow(read)
                read = []
        origins += [_origin(first, dump.same_content)] * len(dump.runs)
    given.fill_arrow(read)
    read = []
    show_samples(scratch, given.widen(["run"]))
    pa.default_memory_pool().release_unused()  # what parsing took
    runs = [{"run": run, **origin} for run, origin in enumerate(origins)]
    scratch.put("stage_origin", pa.Table.from_pylist(runs, schema=_ORIGIN))
    return total, given.columns


_ORIGIN = pa.schema(
    {
        "run": pa.int32(),
        "first_r": pa.int64(),
        "are_draws": pa.bool_(),
        "belong_together": pa.bool_(),
    }
    | {"by_metric": pa.bool_()}
)


def _is_enough(batches: Sequence[pa.RecordBatch]) -> bool:
    """True if one statement may bring in these batches: of fewer rows the engine makes
    no group, and what is no group is written twice, which takes three times as long."""
    rows = sum(batch.num_rows for batch in batches)
    size = sum(batch.nbytes for batch in batches)
    return bool(rows >= ROWS_OF_A_GROUP or size >= BYTES_OF_A_GROUP)


def _origin(first: int, same: SameContent | None) -> dict[str, Any]:
    """The origin of a run by its dump, whose first row has this number."""
    flags = {
        name: getattr(same, name, False)
        for name in ("are_draws", "belong_together", "by_metric")
    }
    return {"first_r": first, **flags}


def _moved(batch: pa.RecordBatch, first_run: int) -> pa.RecordBatch:
    """A batch whose runs are counted from ``first_run`` on."""
    if first_run == 0:
        return batch
    index = batch.schema.get_field_index("run")
    runs = pc.add(batch.column(index), pa.scalar(first_run, pa.int32()))
    return batch.set_column(index, batch.schema.field(index), runs)


#: Texts that the store keeps, with the column of their sha256.
_HASHED = {"prompt_sent": "prompt_hash", "response": "response_hash"}
#: What is only looked up among what a session has met: column, its hash, where they
#: are. Any hash does that is wide enough, and this one takes less than half as long.
#: (The engine's `hash` is none: texts that differ in every eighth byte alone share 256
#: values.)
_LOOKED_UP = {
    "identity": ("identity_hash", "known_key"),
    "prompt_sent": ("sent_hash", "scratch.main.known_text"),
}


#: The column of what happened on the way to a response.
TRANSCRIPT = "transcript"


#: Columns of samples, as the engine has them.
_KINDS = (
    {field.name: engines.column_type(field.type) for field in SAMPLE_SCHEMA}
    | dict.fromkeys(_HASHED.values(), "blob")
    | {name: "uhugeint" for name, _ in _LOOKED_UP.values()}
)


def show_samples(scratch: Scratch, given: Collection[str]) -> None:
    """Make ``stage_sample``: the rows of ``stage_given``, which has these columns, with
    all that a sample may have."""
    columns = []
    for name, kind in _KINDS.items():
        if name in given:
            columns.append(name)
        else:
            columns.append(f"cast(null as {kind}) as {name}")
    scratch.run(
        f"create or replace view stage_sample as select rowid, {', '.join(columns)} "
        "from stage_given"
    )


def _insert(select: str, names: Iterable[str], unfit: str = "false") -> str:
    columns = set(names)
    own = {
        "identity": (
            f"case when {unfit} then error('unfit: ' || identity) else identity end"
        )
    }
    looked_up = {
        column: item for column, item in _LOOKED_UP.items() if column in columns
    }
    if looked_up:  # they may be long, and of one that is known the hash is enough
        marks = ", ".join(
            f"md5_number({column}) as {name}" for column, (name, _) in looked_up.items()
        )
        new = ", ".join(
            f"case when {name} in (select {name} from {table}) then null else "
            f"{own.get(column, column)} end as {column}"
            for column, (name, table) in looked_up.items()
        )
        select = (
            f"select * replace ({new}) from (select *, {marks} from ({select}) as "
            "incoming)"
        )
    hashes = "".join(
        f", unhex(sha256({column})) as {name}"
        for column, name in _HASHED.items()
        if column in columns
    )
    return (
        f"insert into stage_given by name select *{hashes} from ({select}) as incoming"
    )


class _Given:
    """The table ``stage_given``, which has those columns alone that its rows may say
    something in: one that is null in all rows takes eight bytes in each."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self.columns = set[str]()

    def widen(self, names: Collection[str]) -> set[str]:
        """Add the columns that are new among some, and those of their hashes; gives
        all."""
        hashes: set[str] = set()
        for name in names:
            if name in _HASHED:
                hashes.add(_HASHED[name])
            if name in _LOOKED_UP:
                hashes.add(_LOOKED_UP[name][0])
        fresh = sorted({*names, *hashes} - self.columns)
        kinds = [f"{name} {_KINDS[name]}" for name in fresh]
        if fresh and not self.columns:
            self.scratch.run(
                f"create or replace table stage_given ({', '.join(kinds)})"
            )
        for kind in kinds if self.columns else ():
            self.scratch.run(f"alter table stage_given add column {kind}")
        self.columns.update(fresh)
        return self.columns

    def fill_reading(self, reading: BulkQuery, first_run: int) -> int:
        """Insert what a query over the files finds; gives the number of rows."""
        try:
            shape = f"select * from ({reading.sql}) as incoming limit 0"
            described = self.scratch.raw.execute(
                shape, dict(reading.parameters)
            ).description
            names = {column[0] for column in described}
            self.widen(names)
            # the look-up is a join, after which threads store rows in any order:
            # numbered rows come in one stream
            select = (
                f"select *, row_number() over () as number from ({reading.sql}) as "
                "incoming"
            )
            select = (
                f"select * exclude (number) replace (run + {first_run} as run) from "
                f"({select}) where number > 0"
            )
            self.scratch.fit_threads(0)
            return int(
                self.scratch.rows(
                    _insert(select, names, reading.unfit), reading.parameters
                )[0][0]
            )
        except Exception as error:
            if engines.disk_full(error) or not engines.input_error(error):
                raise
        total = 0
        for batch in reading.fallback():
            self.fill_arrow([_moved(batch, first_run)])
            total += int(batch.num_rows)
        return total

    def fill_arrow(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Insert batches in this order, in one statement per stretch that has the same
        columns."""
        for _, alike in groupby(batches, key=lambda batch: batch.schema):
            table = pa.Table.from_batches(alike)
            if not table.num_rows:
                continue
            # many columns say nothing, and each costs something
            empty = [
                name
                for name in table.schema.names
                if table.column(name).null_count == table.num_rows
            ]
            table = table.drop_columns(empty)
            if not _LOOKED_UP.keys().isdisjoint(table.schema.names):
                # looked up by a join, which keeps the order in a batch alone
                table = table.combine_chunks()
            self.widen(table.schema.names)
            self.scratch.raw.register("incoming_batch", table)
            # one batch is work for one thread, however many rows it has
            self.scratch.fit_threads(0)
            self.scratch.run(
                _insert("select * from incoming_batch", table.schema.names)
            )
            self.scratch.raw.unregister("incoming_batch")


def learn_keys(scratch: Scratch) -> int:
    """Compute the content key of every identity that has not been seen in this session;
    gives how many are known."""
    total = scratch.script_into("new_identity", "new_identity")
    first = scratch.value("select count(*) from known_key")
    for start in range(0, total, KEY_BLOCK):
        last = start + KEY_BLOCK - 1
        block = scratch.rows(
            "select s.identity from new_identity as n join stage_sample as s"
            f" on s.rowid = n.r where n.rowid between {start} and {last} order by r"
        )
        keys = [_content_key(scratch, text) for (text,) in block]
        scratch.put(
            "new_key",
            pa.table(
                {
                    "place": range(start, start + len(keys)),
                    "key": keys,
                    "key_no": range(first, first + len(keys)),
                }
            ),
        )
        scratch.script("known_key")
        first += len(keys)
    scratch.drop(["new_identity", "new_key"])
    return int(first)


def _content_key(scratch: Scratch, identity: str) -> str:
    try:
        return content_key(identity)
    except ValueError as error:
        find = "select min(rowid) + 1 from stage_sample where identity = $identity"
        row = scratch.rows(find, {"identity": identity})[0][0]
        raise InputError(
            f"the identity of row {row} is not valid JSON ({error}): {identity[:120]}",
            expected=(
                "JSON with lists and objects at most 250 deep and integers of 64 bits"
            ),
            advice="repair that row, or leave it out",
        ) from None


def number_items(
    scratch: Scratch,
    on_duplicate: OnDuplicate,
    *,
    has_identities: bool,
    belong_together: bool,
) -> None:
    """Give every row the key of its prompt, and number equal contents (``occurrence``).

    Args:
        scratch: with the tables of :func:`fill`.
        on_duplicate: what the user said.
        has_identities: whether any row may have one.
        belong_together: whether rows of one content may be of one prompt, in any dump.
    """
    n_known = 0
    if has_identities:
        n_known = learn_keys(scratch)
    scratch.script("stage_variant")
    scratch.script("stage_row")
    _refuse_lacking_ids(scratch)
    if belong_together:
        scratch.script("number_content")
    if on_duplicate == "draws":
        scratch.script("number_draws")
    scratch.script("stage_item")
    if n_known > KNOWN_KEYS:  # but never within a source
        scratch.run("delete from known_key")


def _refuse_lacking_ids(scratch: Scratch) -> None:
    for _, row, n, n_rows in scratch.rows(query_text("ingest", "lacking_ids")):
        raise InputError(
            f"{n} of {n_rows} rows of a run have no prompt_id; the first is row "
            f"{row + 1} of the source",
            expected="an id in each row of a run, or in none",
            advice=(
                "a row without one may be a summary of the others: leave it out, or "
                "give it an id"
            ),
        )


def gather_texts(
    scratch: Scratch, policy: TextPolicy, columns: Collection[str]
) -> None:
    """The texts to keep, each once, in ``stage_text``; from here on their hashes do,
    and memory holds them no longer. ``columns`` are those that may hold anything."""
    kept = {
        "all": ("prompt_sent", "response", TRANSCRIPT),
        "responses": ("response",),
        "none": (),
    }[policy]
    scratch.run(
        "create or replace table stage_transcript as "
        f"{query_text('ingest', 'stage_transcript')}"
    )
    used = _show_texts(scratch, [column for column in kept if column in columns])
    said = {"identity", *_HASHED, TRANSCRIPT}.intersection(columns) - used
    for column in said:
        scratch.run(f"alter table stage_given drop column {column}")
    if said:
        show_samples(scratch, set(columns) - said)


def _texts_of(column: str) -> str:
    """The texts of a column that the store keeps, with their hashes, as a SELECT."""
    if column == TRANSCRIPT:
        return query_text("ingest", "transcript_texts")
    name = _HASHED[column]
    return (
        f"select {name} as sha256, {column} as text from stage_sample"
        f" where {name} is not null"
    )


def _show_texts(scratch: Scratch, columns: Collection[str]) -> set[str]:
    """Make ``stage_text`` of the texts in some columns; gives those in which they stay:
    most sources say nothing twice, and to hold long texts against each other takes ten
    times as long as to count their hashes."""
    nothing = "select null::blob as sha256, null::varchar as text where false"
    texts = " union all ".join(map(_texts_of, columns)) or nothing
    ((n_texts, n_distinct),) = scratch.rows(
        f"select count(*), count(distinct hash(sha256)) from ({texts}) as said"
    )
    if columns and n_texts == n_distinct:
        scratch.run(f"create or replace view stage_text as {texts}")
        return set(columns)
    distinct = (
        f"select sha256, any_value(text) as text from ({texts}) as said group by sha256"
    )
    scratch.run(f"create or replace table stage_said as {distinct}")
    scratch.run("create or replace view stage_text as from stage_said")
    return set()


def learn_texts(scratch: Scratch) -> None:
    """Know the prompts sent of a source whose texts all are in the store: the sources
    after it need not bring them."""
    if (
        left := KNOWN_TEXTS
        - scratch.value("select count(*) from scratch.main.known_text")
    ) > 0:
        scratch.run(scratch.text("known_text", n_left=left))


def resolve(scratch: Scratch) -> dict[str, int]:
    """Join ids on: needs ``stage_prompt``, ``variant_id`` and ``metric_id``. How many
    rows each table has."""
    each = scratch.value(
        "select (select count(*) from stage_item) = (select count(*) from stage_row)"
    )
    item = "p.run = w.run and p.item = w.item and p.key_no = w.key_no"
    if each:
        item = "p.first_r = w.r"
    n_facts = int(scratch.value(query_text("ingest", "stage_fact").format(item=item)))
    scratch.give_back(n_facts)
    return {"stage_fact": n_facts} | {name: scratch.script(name) for name in UNIQUE}


OF_ROW = "run, prompt_id, variant_id, draw"
#: What makes two rows of a scratch table the same fact, and what must then agree.
UNIQUE: Mapping[str, tuple[str, str]] = {
    "stage_score": (f"{OF_ROW}, metric_id", "value, raw, status"),
    "stage_choice": (f"{OF_ROW}, choice_index", "loglikelihood"),
    "stage_generation": (OF_ROW, "response_hash, extracted_answer"),
}


@dataclass(frozen=True)
class Dropped:
    """Duplicate rows: how many agree with the row that was kept, and how many differ
    from it."""

    same: int = 0
    other: int = 0
    #: metadata in which rows of one id differ that agree otherwise.
    fields: tuple[str, ...] = ()

    def notes(self, on_duplicate: OnDuplicate) -> list[str]:
        """Notes for whoever loaded them."""
        apart = ""
        if self.fields:
            apart = (
                f"; rows of one id differ in {', '.join(self.fields)}: where they are "
                "prompts of their own, map "
            )
            apart += f"{with_id(self.fields)} with the column of the id"
        notes: list[str] = []
        if self.same:
            notes.append(f"{_duplicates(self.same)} collapsed{apart}")
        if self.other:
            notes.append(
                f"{_duplicates(self.other)} with other values dropped: of each the "
                f"{on_duplicate} one was kept (--on-duplicate {on_duplicate})"
            )
        return notes


def _duplicates(n: int) -> str:
    if n == 1:
        return "1 duplicate row"
    return f"{n} duplicate rows"


def with_id(fields: Sequence[str]) -> str:
    """How a mapping tells prompts of one id apart."""
    return (
        f"prompt_id = {{ template = "
        f'"{" ".join(f"{{{name}}}" for name in ("ID", *fields))}" }}'
    )


def prompts_of_runs(scratch: Scratch) -> dict[int, int]:
    """How many prompts each staged run has."""
    return dict(
        scratch.rows(
            "select run, count(distinct prompt_id) from stage_prompt group by run"
        )
    )


def show_prompt_scores(
    scratch: Scratch, sizes: Mapping[str, int], prompts: Mapping[int, int]
) -> int:
    """Make ``stage_prompt_score``, the mean of each prompt of a run, of scores that are
    settled; how many there are."""
    select = query_text("ingest", "single_score")
    n_scores = sizes["stage_score"]
    if not are_apart(sizes, prompts):
        n_scores = scratch.script("pooled_score")
        select = "from pooled_score"
    scratch.run(f"create or replace temp view stage_prompt_score as {select}")
    return n_scores


def are_apart(sizes: Mapping[str, int], prompts: Mapping[int, int]) -> bool:
    """True if each staged row has a prompt of its own in its run."""
    return sum(prompts.values()) == sizes["stage_fact"]
