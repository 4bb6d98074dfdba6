"""What the tests of the report look at: the module's store, its report data, and the page of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.analysis.report_data.report import ReportData, read_report
from warehouse.report.page import write_report
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
