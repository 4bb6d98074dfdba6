"""The documentation as a site: built strictly, with every page in its order."""

from __future__ import annotations

import importlib.util
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import PAGES, ROOT

SITE = ROOT / "docs" / "site"
MISSING = [
    name
    for name in ("sphinx", "myst_parser", "furo")
    if importlib.util.find_spec(name) is None
]


def built(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    call = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-c",
        str(source / "docs" / "site"),
    ]
    return subprocess.run(
        [*call, "-d", str(out / "tree"), str(source), str(out / "html")],
        capture_output=True,
        text=True,
    )


def test_every_page_has_its_place_in_the_order() -> None:
    order: dict[str, Any] = runpy.run_path(str(SITE / "conf.py"))["ORDER"]
    named = [f"{page}.md" for pages in order.values() for page in pages]
    there = [str(page.relative_to(ROOT)) for page in PAGES if page.name != "README.md"]
    assert len(named) == len(set(named))
    assert {*named} - {"benchmarks/README.md"} == {*there}


@pytest.mark.rare
@pytest.mark.skipif(bool(MISSING), reason=f"needs the extra docs: {', '.join(MISSING)}")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = built(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    front = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    captions = re.findall(r'class="caption-text">([^<]+)<', front)
    assert captions[:4] == ["Start", "How to", "Reference", "Statistics explained"]
    assert (tmp_path / "html" / "docs" / "gate.html").is_file()
    assert not re.search(
        r'(src|href)="https?://', front.partition("</head>")[0]
    )  # nothing is loaded from elsewhere


@pytest.mark.rare
@pytest.mark.skipif(bool(MISSING), reason=f"needs the extra docs: {', '.join(MISSING)}")
def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(SITE, copy / "docs" / "site")
    (copy / "README.md").write_text(
        "# Front\n\n[gate](docs/gate.md#nowhere) [none](docs/none.md)\n"
    )
    (copy / "docs" / "gate.md").write_text("# Gate\n")
    done = built(copy, tmp_path)
    assert done.returncode != 0
    assert "nowhere" in done.stderr and "docs/none.md" in done.stderr
