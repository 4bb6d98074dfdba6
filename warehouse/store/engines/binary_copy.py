"""Arrow batches as the byte stream of a binary bulk load: PostgreSQL's binary COPY
format.

The format, from PostgreSQL's documentation of COPY ("Binary Format"): a header; for
each row the number of its fields (int16), then for each field its length in bytes
(int32, -1 for null) and the bytes; a trailer. All numbers are big-endian.

No Python runs per row. A row is cut into *pieces*: neighbouring parts that are equally
wide in every row (field counts, lengths, numbers without nulls) become one piece, a
numpy structured array; a part whose width varies (text, numbers with nulls, lists) is a
piece of its own. Arrow then joins the pieces of each row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import StoreError

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # signature, no flags, no header extension
TRAILER = b"\xff\xff"

BLOCK_ROWS = 1 << 16
BLOCK_BYTES = 1 << 24  # of Arrow data: a block of longer rows is halved

#: Arrow type -> its numbers on the wire. Booleans are bytes by then.
_NUMBERS = {
    pa.uint8(): "u1",
    pa.int16(): ">i2",
    pa.int32(): ">i4",
    pa.int64(): ">i8",
    pa.float32(): ">f4",
    pa.float64(): ">f8",
}
_AS_THEY_ARE = {pa.null(), *_NUMBERS} - {pa.uint8()}
_TEXT = {pa.string(), pa.large_string()}
_BYTES = {pa.binary(), pa.large_binary()}
_TIME = pa.timestamp("us")
_EPOCH = 946_684_800_000_000  # 2000-01-01, where the wire's times start, in Arrow's microseconds
_FIRST_TIME = _EPOCH - 211_813_488_000_000_000  # Julian day 0 (24 November 4714 BC)
_FLOAT4 = 700  # type number of float4 in the server's catalogue
_NUL, _REPLACEMENT = b"\0", "\ufffd".encode()


def encode_stream(
    batches: Iterable[pa.RecordBatch], *, replaced: Counter[str] | None = None
) -> Iterator[bytes]:
    """The whole stream of a binary COPY, in parts of bounded size.

    Column types and what they load into: int16, int32, int64 (integers of that width),
    float32, float64, bool, string (text, json), binary (bytea), timestamp[us] without
    zone, lists of float32 (float4 arrays), dictionaries of these, and null. The
    target's column types must match: the server converts nothing. A row's fields stand
    in the order of the batch's columns.

    Args:
        batches: equal in schema, such as a ``pyarrow.RecordBatchReader``.
        replaced: counts, by column name, the U+0000 of text columns, which the server
            cannot store; each became U+FFFD.

    Raises:
        StoreError: a column of another type, or a time before 4714 BC.
    """
    yield HEADER
    for batch in batches:
        for start in range(0, batch.num_rows, BLOCK_ROWS):
            block = _plain_batch(batch.slice(start, BLOCK_ROWS), replaced)
            yield from (_rows(part) for part in _bounded(block))
    yield TRAILER


def _bounded(block: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Halves of halves, none of which is large unless it is one row."""
    middle = block.num_rows // 2
    if middle == 0 or block.nbytes <= BLOCK_BYTES:
        yield block
    else:
        yield from _bounded(block.slice(0, middle))
        yield from _bounded(block.slice(middle))


# --- few types from many -----------------------------------------------------------------------


def _plain_batch(
    batch: pa.RecordBatch, replaced: Counter[str] | None
) -> pa.RecordBatch:
    names = batch.schema.names
    columns = [
        _plain(*named, replaced) for named in zip(batch.columns, names, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names)


def _plain(column: Any, name: str, replaced: Counter[str] | None) -> Any:
    """The column as numbers of the wire's value, large_binary, a list of float32, or
    null."""
    kind = column.type
    if kind in _AS_THEY_ARE or _is_vector(kind):
        return column
    if kind in _TEXT:
        return _without_nul(column.cast(pa.large_binary()), name, replaced)
    if kind in _BYTES:
        return column.cast(pa.large_binary())
    if kind == pa.bool_():
        return column.cast(pa.uint8())
    if kind == _TIME:
        return _since_epoch(column, name)
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode(), name, replaced)
    raise StoreError(
        f"column {name!r} is of type {kind}, which cannot be bulk-loaded; cast it"
    )


def _is_vector(kind: pa.DataType) -> bool:
    lists = (pa.ListType, pa.LargeListType, pa.FixedSizeListType)
    return isinstance(kind, lists) and bool(kind.value_type == pa.float32())


def _without_nul(text: Any, name: str, replaced: Counter[str] | None) -> Any:
    content = _joined(text)
    if np.count_nonzero(content) == len(content):
        return text
    n_nul = pc.sum(pc.count_substring(text, pattern=_NUL)).as_py()
    if not n_nul:  # they lie under nulls
        return text
    if replaced is not None:
        replaced[name] += n_nul
    return pc.replace_substring(text, pattern=_NUL, replacement=_REPLACEMENT)


def _since_epoch(column: Any, name: str) -> Any:
    microseconds = column.cast(pa.int64())
    first = pc.min(microseconds).as_py()
    if first is not None and first < _FIRST_TIME:
        raise StoreError(
            f"column {name!r} holds a time {first} microseconds from 1970-01-01, which "
            "is before 24 November 4714 BC, where the store's times start; correct it "
            "in the source"
        )
    return pc.subtract(microseconds, _EPOCH)


# --- rows from columns -------------------------------------------------------------------------


@dataclass
class _Pieces:
    """The pieces of ``n`` rows, from left to right."""

    n: int
    done: list[Any] = field(default_factory=list)
    open: list[tuple[str, npt.ArrayLike]] = field(default_factory=list)

    def add_fixed(self, wire: str, values: npt.ArrayLike) -> None:
        """A number of each row, or one number for all of them."""
        self.open.append((wire, values))

    def add_varying(self, values: Any) -> None:
        """Bytes of each row: a large_binary array without nulls."""
        if len(_joined(values)):
            self._close()
            self.done.append(values)

    def joined(self) -> bytes:
        self._close()
        if len(self.done) == 1:
            return _joined(self.done[0]).tobytes()
        nothing_between = pa.scalar(b"", pa.large_binary())
        return _joined(
            pc.binary_join_element_wise(*self.done, nothing_between)
        ).tobytes()

    def _close(self) -> None:
        if not self.open:
            return
        fields = [(f"f{i}", width) for i, (width, _) in enumerate(self.open)]
        piece = np.empty(self.n, np.dtype(fields))
        for (name, _), (_, values) in zip(fields, self.open, strict=True):
            piece[name] = values
        self.done.append(_cut(piece, np.arange(self.n + 1) * piece.itemsize))
        self.open = []


def _rows(block: pa.RecordBatch) -> bytes:
    pieces = _Pieces(block.num_rows)
    pieces.add_fixed(">i2", block.num_columns)
    for column in block.columns:
        if column.null_count == len(column):
            pieces.add_fixed(">i4", -1)
        elif column.type in _NUMBERS:
            _add_numbers(pieces, column, _NUMBERS[column.type])
        elif column.type == pa.large_binary():
            pieces.add_fixed(">i4", pc.binary_length(column).fill_null(-1).to_numpy())
            if column.null_count:
                column = column.fill_null(b"")
            pieces.add_varying(column)
        else:
            _add_vectors(pieces, column)
    return pieces.joined()


def _add_numbers(pieces: _Pieces, column: Any, wire: str) -> None:
    width = np.dtype(wire).itemsize
    if not column.null_count:
        pieces.add_fixed(">i4", width)
        pieces.add_fixed(wire, column.to_numpy())
        return
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    pieces.add_fixed(">i4", np.where(valid, width, -1))
    pieces.add_varying(
        _cut(column.drop_null().to_numpy().astype(wire), _ends(valid * width))
    )


def _add_vectors(pieces: _Pieces, column: Any) -> None:
    """One-dimensional arrays: a head of 20 bytes, 12 if it is empty; then elements as
    fields."""
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    lengths = pc.list_value_length(column).fill_null(0).to_numpy()
    elements, widths = _elements(column.flatten())
    element_ends = _ends(widths)[_ends(lengths)]
    heads = np.where(lengths > 0, 20, np.where(valid, 12, 0))
    pieces.add_fixed(">i4", np.where(valid, heads + np.diff(element_ends), -1))
    pieces.add_varying(_cut(_vector_heads(lengths, element_ends, heads), _ends(heads)))
    pieces.add_varying(_cut(elements, element_ends))


def _elements(values: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The fields of all elements of all rows on end, and the width of each: 8, 4 if it
    is null."""
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    fields = np.empty(len(values), [("length", ">i4"), ("value", ">f4")])
    fields["length"] = np.where(valid, 4, -1)
    fields["value"] = values.to_numpy(zero_copy_only=False)
    widths = np.where(valid, 8, 4)
    octets = fields.view(np.uint8).reshape(-1, 8)
    return octets[np.arange(8) < widths[:, None]], widths


def _vector_heads(
    lengths: npt.NDArray[Any],
    element_ends: npt.NDArray[np.int64],
    widths: npt.NDArray[np.int64],
) -> npt.NDArray[np.uint8]:
    """Dimensions, whether there are nulls, element type; then the length and the first
    index."""
    names = ("d", "nulls", "type", "n", "first")
    heads = np.empty(len(lengths), [(name, ">i4") for name in names])
    heads["d"] = lengths > 0
    heads["nulls"] = np.diff(element_ends) < 8 * lengths
    heads["type"] = _FLOAT4
    heads["n"] = lengths
    heads["first"] = 1
    octets = heads.view(np.uint8).reshape(-1, 20)
    return octets[np.arange(20) < widths[:, None]]


# --- bytes ---------------------------------------------------------------------------------------


def _ends(widths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Offsets of values that are that wide: n + 1 numbers, the first of them 0."""
    return np.concatenate([[0], np.cumsum(widths, dtype=np.int64)])


def _cut(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> Any:
    """The bytes of an array, cut at ``offsets`` into a large_binary array."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _joined(values: Any) -> npt.NDArray[np.uint8]:
    """The bytes of all values of a large_binary array on end, without copying them."""
    _, offsets, data = values.buffers()
    first = values.offset
    ends = np.frombuffer(offsets, np.int64)[first : first + len(values) + 1]
    return np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]
