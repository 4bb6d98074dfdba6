"""Answers to questions, kept while the store is the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from warehouse.questions.question import Question
from warehouse.serve.following import FollowedStore
from warehouse.store.connection import Store

#: Answers that are kept at most, the last asked ones.
KEPT = 256
#: The same of answers with the scores of every prompt in them.
LARGE = 12


class Answers:
    """Asks each question once of each state of a store, however many ask it at the same time."""

    def __init__(self, store: FollowedStore, kept: int = KEPT) -> None:
        self.store, self._most = store, kept
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Future[Any]] = OrderedDict()

    def ask(self, question: Question) -> Any:
        """The answer to a question.

        Raises:
            WarehouseError: as the question itself.
        """
        return self.once(f"{question!r}", question.ask)

    def once(self, name: str, read: Callable[[Store], Any]) -> Any:
        """What a function reads from the store.

        Args:
            name: of what it reads, with everything that this depends on beside the store.
            read: the function.
        """
        key = (self.store.version, name)
        with self._lock:
            found = self._kept.get(key)
            mine = found is None
            future: Future[Any] = Future() if found is None else found
            self._kept[key] = future
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        if mine:
            self._read(key, future, read)
        return future.result()

    def _read(self, key: tuple[str, str], future: Future[Any], read: Callable[[Store], Any]) -> None:
        try:
            with self.store.lend() as store:
                future.set_result(read(store))
        except BaseException as error:
            with self._lock:
                self._kept.pop(key, None)
            future.set_exception(error)

    def ready(self, question: Question) -> Any:
        """The answer to a question that was asked already; None where it was not, or is not there yet."""
        with self._lock:
            found = self._kept.get((self.store.version, f"{question!r}"))
        return found.result() if found is not None and found.done() and not found.exception() else None
