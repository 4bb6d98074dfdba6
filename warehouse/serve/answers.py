"""Answers to questions, kept while the store is the same."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias, TypeVar, cast

from warehouse.errors import MisuseError, QueryLimitError
from warehouse.questions.question import Question
from warehouse.serve.following import LOOK, FollowedStore
from warehouse.store.columns import give_back_memory, held_bytes
from warehouse.store.connection import Store

#: Answers that are kept at most, the last asked ones, and bytes of their arrays and
#: packed texts.
KEPT, ROOM = 256, 96_000_000
#: Bytes of answers with the scores of every prompt in them: of 10 million scores the
#: comparison of two models has 8 MB.
LARGE_ROOM = 64_000_000
#: Seconds without a question after which memory is given back.
QUIET = 0.3
#: Seconds that a page waits for an answer before it says that it is being computed.
PATIENCE = 0.12
#: Answers that pages wait for, computed at a time: a slow one holds up nobody who asks
#: for another.
AT_A_TIME = 3

T = TypeVar("T")
#: Work that waits for a thread.
Queue: TypeAlias = "SimpleQueue[Callable[[], object]]"


class Answers:
    """Asks each question once of each state of a store, however many ask it at the same
    time.

    Attributes:
        store: what is asked.
    """

    def __init__(self, store: FollowedStore, room: int = ROOM) -> None:
        self.store, self._room, self._lock = store, room, threading.Lock()
        self._behind: Queue = SimpleQueue()
        self._asked_for: Queue = SimpleQueue()
        self._kept: OrderedDict[tuple[str, str], Future[Any]] = OrderedDict()
        self._held: dict[tuple[str, str], dict[int, int]] = {}
        self._n_asked_for = 0  # what pages wait for, computed now or not begun
        self._start(self._behind, "warehouse-behind")
        self._workers = [self._start(self._asked_for, "warehouse-answer")]

    def _start(self, queue: Queue, name: str) -> threading.Thread:
        """A daemon: an interpreter that ends does not wait for what nobody will read."""
        thread = threading.Thread(
            target=self._work, args=(queue,), daemon=True, name=name
        )
        thread.start()
        return thread

    def later(self, work: Callable[[], object]) -> None:
        """Have something computed behind the pages, that takes long and much memory,
        after what else was given here."""
        self._behind.put(work)

    def _ask_for(self, work: Callable[[], object]) -> None:
        """Have something computed that a page waits for; beside what is being computed,
        up to `AT_A_TIME`."""
        with self._lock:
            self._n_asked_for += 1
            if (
                self._n_asked_for > len(self._workers)
                and len(self._workers) < AT_A_TIME
            ):
                self._workers.append(self._start(self._asked_for, "warehouse-answer"))
        self._asked_for.put(partial(self._counted, work))

    def _counted(self, work: Callable[[], object]) -> None:
        try:
            work()
        finally:
            with self._lock:
                self._n_asked_for -= 1

    def _work(self, queue: Queue) -> None:
        """Memory is given back when nothing more is asked, or after a time: the page
        being made would wait for it."""
        left_since = math.inf
        while not self.store.is_closed:
            try:
                queue.get(timeout=QUIET if left_since < math.inf else LOOK)()
                left_since = min(left_since, time.monotonic())
                is_due = time.monotonic() - left_since > LOOK
            except Empty:
                is_due = left_since < math.inf
            if is_due:
                give_back_memory()
                left_since = math.inf

    def once(self, name: str, read: Callable[[Store], T]) -> T:
        """What a function reads from the store.

        Args:
            name: of what it reads, with everything that this depends on beside the
                store.
            read: the function.
        """
        return self.made(name, lambda: self._asked(read))

    def made(self, name: str, make: Callable[[], T]) -> T:
        """As `once`, of what needs no store: it is made of other answers."""
        key, future, is_new = self._future(name)
        if is_new:
            self._keep(key, future, make)
        return cast("T", future.result())

    def soon(self, question: Question) -> Any:
        """The answer to a question that takes long; None while it is being computed."""
        return self.once_soon(f"{question!r}", question.ask)

    def once_soon(
        self, name: str, read: Callable[[Store], T], patience: float = PATIENCE
    ) -> T | None:
        """As `once`, for what takes long: None while it is being read."""
        key, future, is_new = self._future(name)
        if is_new:
            self._ask_for(lambda: self._keep(key, future, lambda: self._asked(read)))
        try:
            return cast("T", future.result(patience))
        except TimeoutError:
            if future.done():  # an answer of its own
                raise
            return None

    def _future(self, name: str) -> tuple[tuple[str, str], Future[Any], bool]:
        key = (self.store.version, name)
        with self._lock:
            found = self._kept.get(key)
            future: Future[Any] = Future() if found is None else found
            self._kept[key] = future
            self._kept.move_to_end(key)
            self._make_room()
        return key, future, found is None

    def _make_room(self) -> None:
        """Let go of what was not asked for longest, but for what is asked now."""
        before = len(self._kept)
        while (
            len(self._kept) > KEPT or len(self._kept) > 1 and self._size() > self._room
        ):
            self._held.pop(self._kept.popitem(last=False)[0], None)
        if len(self._kept) < before:
            self.later(lambda: None)  # after which memory is given back

    def _size(self) -> int:
        """Bytes that answers hold; what several of them share counts once."""
        held: dict[int, int] = {}
        for own in self._held.values():
            held |= own
        return sum(held.values())

    def _asked(self, read: Callable[[Store], T]) -> T:
        with self.store.lend() as store:
            return read(store)

    def _keep(
        self, key: tuple[str, str], future: Future[Any], make: Callable[[], Any]
    ) -> None:
        try:
            answer = make()
            held = held_bytes(answer)
            with self._lock:
                if key in self._kept:
                    self._held[key] = held
                    self._make_room()
            future.set_result(answer)
        except BaseException as error:
            if not isinstance(error, MisuseError) or isinstance(
                error, QueryLimitError
            ):  # another time it may succeed
                with self._lock:
                    self._kept.pop(key, None)
            future.set_exception(error)
