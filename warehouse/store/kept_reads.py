"""What was read of one state of a store, for all who ask it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

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

    def get(self, key: Hashable) -> pa.Table | None:
        """An answer, if it is kept."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def put(self, key: Hashable, answer: pa.Table) -> None:
        """Keep an answer that is not too large."""
        with self._lock:
            if key in self._answers or answer.nbytes > KEPT_BYTES // 4:
                return
            self._answers[key] = _copy(answer)
            self._size += answer.nbytes
            while self._size > KEPT_BYTES:
                self._size -= self._answers.popitem(last=False)[1].nbytes


def _copy(table: pa.Table) -> pa.Table:
    """The same rows in as little memory as they need: an engine's own buffers hold many times as much."""
    written = pa.BufferOutputStream()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    return pa.ipc.open_stream(written.getvalue()).read_all()
