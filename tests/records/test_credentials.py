"""Keys and passwords of a dump are left out, and nothing else is."""

from __future__ import annotations

import pytest

from warehouse.records.credentials import without_credentials


@pytest.mark.parametrize(
    "name",
    (
        "api_key apiKey openaiApiKey OPENAI_API_KEY x-api-key token hf_token auth_token access_token secret"
        " userAccessToken clientSecretKey client_secret aws_secret_access_key password db_password Authorization"
        " credentials"
    ).split(),
)
def test_entries_with_the_name_of_a_secret_are_left_out(name: str) -> None:
    assert without_credentials({"model": {name: "abc", "temperature": 0.5}}) == {"model": {"temperature": 0.5}}


@pytest.mark.parametrize(
    "name",
    "max_tokens eos_token pad_token stop_token tokenizer key metric_key tokens secretary password_strength".split(),
)
def test_entries_with_like_names_stay(name: str) -> None:
    assert without_credentials({name: "abc"}) == {name: "abc"}


def test_numbers_and_truths_under_such_a_name_stay() -> None:
    assert without_credentials({"token": 3, "secret": True, "password": None}) == {
        "token": 3,
        "secret": True,
        "password": None,
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "model=gpt,base_url=http://me:pw@host/v1,api_key=abc,n=2",
            "model=gpt,base_url=http://***@host/v1,api_key=***,n=2",
        ),
        ("run --openai-api-key abc --limit 3", "run --openai-api-key *** --limit 3"),
        ("OPENAI_API_KEY=abc python -m tool", "OPENAI_API_KEY=*** python -m tool"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": "***", "n": 1}'),
        ("sent with sk-proj-abcdefgh12345678ijkl", "sent with ***"),
        ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer ***"),
    ],
)
def test_secrets_within_a_text_are_masked(text: str, shown: str) -> None:
    assert without_credentials([text]) == [shown]


@pytest.mark.parametrize(
    "text",
    [
        "What is the password? It is a secret: nobody knows.",
        "api key is needed",
        "task-oriented-dialogue-2024-long-name, risk-assessment-of-2024-models, sk-learn-regression-model",
        "https://host/path?tokens=5",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert without_credentials({"text": text}) == {"text": text}


def test_what_is_nested_too_deep_to_look_through_is_left_out() -> None:
    deep: list[object] = ["sk-0a1b2c3d4e5f6g7h8i9j"]
    for _ in range(5000):
        deep = [deep]
    assert without_credentials({"deep": deep}) == {}
