"""Which prompt a text names: by the tool's own id, else by its id, else by its key."""

from __future__ import annotations

import pytest

from tests.support.builders import StoreRows
from tests.support.stores import ENGINES, filled_store
from warehouse.analysis.selection.prompts import find_prompt
from warehouse.errors import MisuseError

#: Key and the tool's own id of prompts 1, 2, 3 ...
NAMES = [
    ("2", None),
    ("x", None),
    ("y", "1"),
    ("z", "twice"),
    ("u", "twice"),
    ("v", "4"),
    ("w", "4"),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_prompt_is_named_by_the_tools_id_before_its_own_and_its_key(
    request: pytest.FixtureRequest, engine: str
) -> None:
    rows = StoreRows()
    for key, tool_id in NAMES:
        rows.rows["prompt"][rows.prompt("quiz", key) - 1]["tool_id"] = tool_id
    quiz = rows.benchmark("quiz")
    with filled_store(request, engine, rows) as store:
        named = {
            text: find_prompt(store, text, [quiz])
            for text in ("2", "x", "1", "y", "4", "prompt:1", "none")
        }
        assert named == {
            "2": 2,
            "x": 2,
            "1": 3,
            "y": 3,
            "4": 4,
            "prompt:1": 1,
            "none": None,
        }
        with pytest.raises(
            MisuseError,
            match="'twice' names several prompts; choose one: prompt:4, prompt:5",
        ):
            find_prompt(store, "twice", None)
        assert find_prompt(store, "x", [quiz + 1]) is None
