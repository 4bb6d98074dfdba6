"""Items in parts of a bounded size."""

from __future__ import annotations

from itertools import chain, pairwise

from hypothesis import given
from hypothesis import strategies as st

from warehouse.store.columns import in_parts


@given(st.lists(st.integers(0, 9)), st.integers(1, 20), st.none() | st.integers(1, 4))
def test_parts_are_as_large_as_they_may_be(
    sizes: list[int], most: int, most_items: int | None
) -> None:
    parts = list(in_parts(sizes, lambda size: size, most, most_items))
    assert list(chain(*parts)) == sizes and all(parts)
    for part in parts:
        assert (sum(part) <= most or len(part) == 1) and (
            most_items is None or len(part) <= most_items
        )
    for part, following in pairwise(parts):
        assert sum(part) + following[0] > most or len(part) == most_items
