"""What the tests of refreshes share."""

from __future__ import annotations

import pytest

from warehouse.api import Warehouse, connect


@pytest.fixture
def house(own_url: str) -> Warehouse:
    """A store of this test alone in Python."""
    return connect(own_url)
