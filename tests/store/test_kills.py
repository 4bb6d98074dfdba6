"""An ingest that is killed leaves whole sources, in small; `tests/campaign/kills.py`
kills 200."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.campaign.units import ROOT


@pytest.mark.slow
def test_whole_sources_only(bare_url: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "tests/campaign/kills.py"),
            "--url",
            bare_url,
            "--kills",
            "8",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ingest: 8 kills")
