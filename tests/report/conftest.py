"""What the tests of the report look at: the module's store, its report data, and the
page of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from warehouse.analysis.report_data.report import ReportData, read_report
from warehouse.report.writing import write_report
from warehouse.store.open import open_store


@pytest.fixture(scope="module")
def data(url: str) -> ReportData:
    """The report of the store that the module's fixture ``url`` made."""
    with open_store(url) as store:
        return read_report(store, n_resamples=99)


@pytest.fixture(scope="module")
def written(data: ReportData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its page, one file."""
    out = tmp_path_factory.mktemp("page") / "report.html"
    write_report(data, out)
    return out


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core: that of WAREHOUSE_AXE, else the one that the package
    axe-core-python holds."""
    if named := os.environ.get("WAREHOUSE_AXE"):
        return Path(named).read_text(encoding="utf-8")
    pytest.importorskip(
        "axe_core_python", reason="axe-core is not installed (axe-core-python)"
    )
    return files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def window(opened: Any) -> Iterator[Any]:
    """Shows the page in a window of a width and theme."""

    def show(width: int, theme: str) -> Any:
        metrics = {
            "width": width,
            "height": 900,
            "deviceScaleFactor": 1,
            "mobile": width < 500,
        }
        opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        opened.refresh()
        return opened

    yield show
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
