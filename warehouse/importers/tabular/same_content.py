"""What a mapping says of rows of one run that hold the same content."""

from __future__ import annotations

import json

from warehouse.importers.tabular.mapping import TabularMapping
from warehouse.importers.tabular.sections import in_row
from warehouse.records import SameContent

#: What a prompt is besides its id, where no key names it.
_CONTENT = ("text", "target", "choices")


def same_content(mapping: TabularMapping, *, stated: bool) -> SameContent | None:
    """Whether such rows are draws of one prompt; ``None`` where the mapping settles it in another way: by numbered
    generations in a record, or by places that it names.

    Args:
        mapping: the mapping.
        stated: whether a user wrote it, or the names of the columns did.
    """
    first = mapping.variants[0]
    if mapping.rules.draws is not None or "position" in first.sample:
        return None
    key = mapping.key or tuple(name for name in _CONTENT if name in first.sample)
    if not key:
        return None
    are_draws = stated and bool(mapping.key) and "draw" not in first.sample
    return SameContent(
        are_draws,
        belong_together=are_draws or (first.is_long and bool(mapping.key)),
        by_metric=any(in_row(path) for rule in first.scores for path in rule.metric.paths()),
        by_id="prompt_id" in first.sample,
        key=f"key = {json.dumps(list(key))}",
    )
