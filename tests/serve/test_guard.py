"""Who may ask, and what is said to those who may not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.support.stores import store_at
from warehouse.errors import MisuseError
from warehouse.serve.app import create_app
from warehouse.serve.security import COOKIE, Access

TOKEN = "0123456789abcdef0123"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    url = store_at(tmp_path_factory.mktemp("guard") / "store.duckdb")
    with TestClient(
        create_app(url), base_url="http://127.0.0.1:8321", follow_redirects=False
    ) as client:
        yield client


@pytest.fixture
def ask_elsewhere(duckdb_url: str) -> Iterator[TestClient]:
    app = create_app(duckdb_url, access=Access("0.0.0.0", TOKEN))
    with TestClient(
        app, base_url="http://evals.example.org", follow_redirects=False
    ) as client:
        yield client


def test_every_answer_says_what_a_browser_may_do(ask: TestClient) -> None:
    for address in ("/", "/nowhere", "/static/style.css"):
        headers = ask.get(address).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert (
            headers["x-content-type-options"] == "nosniff"
            and headers["referrer-policy"] == "no-referrer"
        )


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.org",
        "127.0.0.1.evil.org",
        "localhost.evil.org:8321",
        "",
        "[::2]",
        "a b",
    ],
)
def test_a_name_that_was_turned_to_this_address_is_refused(
    ask: TestClient, host: str
) -> None:
    assert ask.get("/", headers={"host": host}).status_code == 421
    assert (
        ask.get("/static/style.css", headers={"host": "localhost:8321"}).status_code
        == 200
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_but_reading(ask: TestClient, method: str) -> None:
    assert ask.request(method, "/").status_code == 405
    assert ask.head("/static/style.css").status_code == 200


def test_a_megabyte_of_address_is_refused(ask: TestClient) -> None:
    assert ask.get("/?a=" + "x" * 60_000).status_code == 414


def test_the_token_goes_from_the_link_into_a_cookie(ask_elsewhere: TestClient) -> None:
    assert ask_elsewhere.get("/").status_code == 401
    assert ask_elsewhere.get("/?token=" + "0" * 20).status_code == 401
    entered = ask_elsewhere.get(f"/?model=x&token={TOKEN}")
    assert entered.status_code == 303 and entered.headers["location"] == "/?model=x"
    assert {"httponly", "samesite=strict"} <= set(
        entered.headers["set-cookie"].lower().split("; ")
    )
    assert ask_elsewhere.get("/").status_code == 200  # by the cookie
    ask_elsewhere.cookies.clear()  # programs at other ports have their own, of any form
    assert (
        ask_elsewhere.get(
            "/", headers={"cookie": f'other={{"a": [1]}}; {COOKIE}={TOKEN}'}
        ).status_code
        == 200
    )


def test_a_program_shows_the_token_in_a_header(ask_elsewhere: TestClient) -> None:
    assert (
        ask_elsewhere.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code
        == 200
    )
    assert (
        ask_elsewhere.get(
            "/", headers={"authorization": "Bearer é".encode("latin-1")}
        ).status_code
        == 401
    )


def test_a_redirect_stays_here(ask_elsewhere: TestClient) -> None:
    assert (
        ask_elsewhere.get(
            f"http://evals.example.org//evil.example.org/?token={TOKEN}"
        ).headers["location"]
        == "/evil.example.org/"
    )


def test_a_proxy_is_believed_at_its_address_alone(duckdb_url: str) -> None:
    for address, status in (("testclient", 401), ("10.0.0.7", 200)):
        app = create_app(duckdb_url, access=Access("0.0.0.0", "", "X-User", "10.0.0.7"))
        with TestClient(app, base_url="http://evals", client=(address, 1)) as client:
            assert client.get("/", headers={"x-user": "ada"}).status_code == status
            assert client.get("/").status_code == 401


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("0.0.0.0",), "would have to show nothing"),
        (("0.0.0.0", "short"), "at least 16"),
        (("0.0.0.0", "long enough; but a cookie ends"), "at least 16 letters"),
        (("127.0.0.1", "", "X-User", ""), "stand together"),
        (("127.0.0.1", "", "X-User", "proxy"), "address of the proxy"),
    ],
)
def test_what_would_let_anybody_in_is_refused(
    given: tuple[str, ...], words: str
) -> None:
    with pytest.raises(MisuseError, match=words):
        Access(*given)
