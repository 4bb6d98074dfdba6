"""One cluster for all tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support.spark_cluster import SparkCluster, SparkMissing


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    try:
        made = SparkCluster(tmp_path_factory.mktemp("spark"))
    except SparkMissing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing}; .ci/run installs Java")
        pytest.skip(str(missing))
    try:
        made.start()
        yield made
    finally:
        made.stop()
