"""Why two models have no prompt in common on a benchmark, and what joins them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from warehouse.analysis.selection.conditions import Condition
from warehouse.store.connection import Store
from warehouse.store.curate.prompts_within import (
    AskedText,
    questions_within,
    read_texts,
)

#: Prompts of a side beyond which nobody looks whether texts stand in others.
_MOST = 20_000


def why_none_in_common(
    store: Store,
    a: Condition,
    b: Condition,
    prompts: tuple[Sequence[int], Sequence[int]],
) -> str:
    """What is equal in the prompts of two conditions, and the command that joins these;
    empty where nothing is.

    Args:
        prompts: ids of those that each has a score of.
    """
    if max(map(len, prompts)) > _MOST:
        return ""
    benchmarks = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
    by_id = {asked.id: asked for asked in read_texts(store, benchmarks)}
    first, second = (
        [by_id[prompt] for prompt in own if prompt in by_id] for own in prompts
    )
    if not first or not second:
        return "; texts, which would tell equal questions, are not stored of both"
    names = [condition.setting("benchmark") for condition in (a, b)]
    call = f"warehouse fix link {shlex.join(names)}"
    n_equal = len({one.text for one in first} & {one.text for one in second})
    if n_equal:
        return (
            f"; {n_equal:,} have equal texts under other ids: `{call}` joins those of "
            "one target"
        )
    within = questions_within(first, second)
    if within.pairs:
        return _standing_within(within.pairs, first, a, b, call)
    return "; no text of one is that of the other, or stands in it: other questions"


def _standing_within(
    pairs: Sequence[tuple[int, int]],
    first: Sequence[AskedText],
    a: Condition,
    b: Condition,
    call: str,
) -> str:
    """That the questions of one stand in the prompts of the other."""
    own = {asked.id for asked in first}
    longer, shorter = b.model, a.model
    if pairs[0][0] in own:
        longer, shorter = a.model, b.model
    return (
        f"; the ids do not tell it, but {len(pairs):,} questions of {shorter} stand "
        f"whole in prompts of {longer}, between examples or instructions, with equal "
        f"targets: `{call} --by within` joins these"
    )
