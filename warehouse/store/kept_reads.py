"""What was read of one state of a store, for all who ask it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

import pyarrow as pa

#: Bytes of answers that are kept of a state.
KEPT_BYTES = 32_000_000


class KeptReads:
    """Answers to SELECTs of one state of a store, for whoever asks them again: what is read of benchmarks and prompts
    for one pair of models is the same for the next. Those go that were not asked for longest.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, pa.Table] = OrderedDict()
        self._lock, self._size = threading.Lock(), 0

    def once(self, key: Hashable, read: Callable[[], pa.Table]) -> pa.Table:
        """The answer that is kept, else what is read now; one that is not too large is kept."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        table = read()
        with self._lock:
            if key not in self._answers and table.nbytes <= KEPT_BYTES // 4:
                self._answers[key] = table = _copy(table)
                self._size += table.nbytes
            while self._size > KEPT_BYTES:
                self._size -= self._answers.popitem(last=False)[1].nbytes
        return table


def _copy(table: pa.Table) -> pa.Table:
    """The same rows in as little memory as they need: an engine's own buffers hold many times as much."""
    written = pa.BufferOutputStream()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    return pa.ipc.open_stream(written.getvalue()).read_all()
