"""Pages as a browser gets them: figures, forms of an answer, addresses that lead nowhere."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.support.cli import Caller


def test_json_of_a_benchmark_is_that_of_the_command(client: TestClient, run: Caller, url: str) -> None:
    assert client.get("/benchmark/quiz?format=json").text == run("leaderboard", "quiz", "--json", db=url).out


@pytest.mark.parametrize("address", ["/nowhere", "/benchmark/quzi", "/benchmark/%00", "/benchmark/../../etc/passwd"])
def test_what_is_not_there_is_a_plain_page(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404 and "Traceback" not in answer.text
    assert "did you mean quiz?" in answer.text or "quzi" not in address
