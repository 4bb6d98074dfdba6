"""What results by a field of the prompt read of the store."""

from __future__ import annotations

from typing import Any

from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.read import TwoModels
from warehouse.analysis.selection.reference import in_words
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.slices.fields import PromptFields, read_fields
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.tables.words import some_of


def read_pair(
    store: Store, question: Any, a: str, b: str, **selected: Any
) -> tuple[Pair, PromptFields]:
    """Two models on one benchmark, and the fields of its prompts.

    Args:
        question: what it selects.
        a: reference of the first.
        b: of the second.
        selected: what it does not say by the name of the selection.

    Raises:
        MisuseError: unknown or ambiguous references, several benchmarks in common, or
            runs that should not be compared.
    """
    shared = SharedReads(store)
    models = TwoModels(shared, a, b, selection_of(question, **selected), question.force)
    found, _ = models.find(())
    if len(found) > 1:
        names = [in_words(a.benchmark_split) for a, _ in found]
        raise MisuseError(
            f"{a} and {b} have {len(found)} benchmarks or splits in "
            f"common ({some_of(names)}): slices are of one; name it (--benchmark, and "
            "--where split=NAME)"
        )
    on = models.on_one(models.pair, *found[0])
    if isinstance(on.read, MisuseError):
        raise on.read
    pair = on.read
    ids = sorted({own.setting("benchmark_id") for own in (pair.a, pair.b)})
    return pair, read_fields(store, ids, pair.benchmark, pair.prompts)
