"""What the tests of the pages ask: the application over the module's store, as a
browser on this machine asks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.page_reader import PageReader
from warehouse.serve.app import create_app


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[PageReader]:
    """Asks the application over the store of the module's fixture ``url``."""
    with PageReader(
        create_app(url), base_url="http://127.0.0.1:8321", follow_redirects=False
    ) as asks:
        yield asks
