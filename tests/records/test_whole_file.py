"""Files that are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.errors import MisuseError
from warehouse.records.whole_file import write_whole


def test_a_file_is_replaced_and_no_draft_stays(tmp_path: Path) -> None:
    target = tmp_path / f"{'n' * 240}.html"
    target.write_bytes(b"before")
    assert write_whole(target, b"after") == 5
    assert target.read_bytes() == b"after" and [*tmp_path.iterdir()] == [target]


@pytest.mark.parametrize("inner", ["", "missing/page.html"])
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path, inner: str) -> None:
    target = tmp_path / "held" / inner
    (tmp_path / "held").mkdir()
    with pytest.raises(MisuseError, match="cannot be written: "):
        write_whole(target, b"x")
    assert [one.name for one in tmp_path.rglob("*")] == ["held"]
