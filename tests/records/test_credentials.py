"""Keys and passwords of a dump are left out, and nothing else is."""

from __future__ import annotations

import pytest

from warehouse.records.credentials import without_credentials


@pytest.mark.parametrize(
    "name",
    (
        "api_key apiKey openaiApiKey OPENAI_API_KEY x-api-key token hf_token "
        "auth_token access_token secret userAccessToken clientSecretKey client_secret "
        "aws_secret_access_key password db_password Authorization credentials "
        "SLACK_TOKEN MY_SERVICE_KEY SERVICE_SECRET DB_PASS PGPASSWORD SSHPASS pwd "
        "passphrase connection_string connectionString openai_key AccountKey "
        "OPENAI_API_KEY_2 WANDB_KEY_PROD Cookie X-Amz-Signature"
    ).split(),
)
def test_entries_with_the_name_of_a_secret_are_left_out(name: str) -> None:
    assert without_credentials({"model": {name: "abc", "temperature": 0.5}}) == {
        "model": {"temperature": 0.5}
    }


@pytest.mark.parametrize(
    "name",
    (
        "max_tokens eos_token pad_token stop_token tokenizer key metric_key tokens "
        "secretary password_strength pass@k pass@1 pass_rate n_pass token_count "
        "primary_key sort_key PRIMARY_KEY FAIL_TO_PASS PASS_TO_PASS PASS passage "
        "bypass compass api_key_env think_end_token tool_call_tokens answer_key keys "
        "session_id signature correct_token target_token openai_keys"
    ).split(),
)
@pytest.mark.parametrize(
    "value", ["abc", "<|endoftext|>", "question_id", ["test_one", "test_two"]]
)
def test_entries_with_like_names_stay(name: str, value: object) -> None:
    assert without_credentials({name: value}) == {name: value}


@pytest.mark.parametrize(
    "name",
    "db_pass smtp_pass custom_token hmac_key signature auth some_password_hash".split(),
)
def test_entries_with_names_that_may_be_of_a_secret_go_if_they_look_drawn(
    name: str,
) -> None:
    assert without_credentials({name: "0a1b2c3d4e5f6g7h"}) == {}


@pytest.mark.parametrize(
    "entry",
    [
        {"api_keys": ["hidden"]},
        {"api_keys": {"someone": "hidden"}},
        {"secrets": {"a": "hidden"}},
        {"passwords": ("hidden",)},
        {"env": [{"name": "OPENAI_API_KEY", "value": "hidden"}]},
        {"env": ["OPENAI_API_KEY=hidden", "SLACK_TOKEN=hidden"]},
        {"openai_keys": ["hidden0a1B2c3D4e"]},
        {"basic_auth": ["me", "hidden"]},
        {"headers": [["X-Api-Key", "hidden"], ["Cookie", "hidden"]]},
        {"argv": ["tool", "--api-key", "hidden", "-u", "me:hidden", "--token=hidden"]},
    ],
)
def test_secrets_in_lists_and_pairs_are_left_out(entry: dict[str, object]) -> None:
    assert "hidden" not in str(without_credentials(entry))


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
        ("Authorization: Basic bWU6cHc=", "Authorization: Basic ***"),
        (
            "curl -u me:hidden -H 'X-Api-Key: hidden' https://host",
            "curl -u me:*** -H 'X-Api-Key: ***' https://host",
        ),
        (
            "curl --user 'me:hid' https://host:80/",
            "curl --user 'me:***' https://host:80/",
        ),
        ("Cookie: session=abc; b=c\nX: 1", "Cookie: ***\nX: 1"),
        ("api_key: hidden\nn: 2", "api_key: ***\nn: 2"),
        ("password: hidden\nn: 2", "password: ***\nn: 2"),
        ("password='my own words', n=2", "password='***', n=2"),
        ('{"api_keys": ["a", "b"], "n": 1}', '{"api_keys": [***], "n": 1}'),
        ('{\\"api_key\\": \\"abc\\"}', '{\\"api_key\\": \\"***\\"}'),
        ('os.environ["API_KEY"] = "abc"', 'os.environ["API_KEY"] = "***"'),
        (
            "Server=a;AccountKey=ab==;Password=x y",
            "Server=a;AccountKey=***;Password=*** y",
        ),
        (
            "https://a.blob.core.windows.net/c?sv=1&sig=a%2Bb&se=2",
            "https://a.blob.core.windows.net/c?sv=1&sig=***&se=2",
        ),
        (
            "https://b.s3.aws.com/k?X-Amz-Credential=a&X-Amz-Signature=b",
            "https://b.s3.aws.com/k?X-Amz-Credential=***&X-Amz-Signature=***",
        ),
        ("https://me:p/w@host/v1", "https://***@host/v1"),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY----- b",
            "a *** b",
        ),
        ("postgresql://me:hidden@host/db", "postgresql://***@host/db"),
        ("curl -sSu me:hidden https://host", "curl -sSu me:*** https://host"),
        ("see me:hidden@host.example.com/db", "see ***@host.example.com/db"),
        ("me:hid-den1@example.com:5432/db", "***@example.com:5432/db"),
        ('"me:hidden@localhost:5432"', '"***@localhost:5432"'),
        ("me:hidden@10.0.0.7:5432/db", "***@10.0.0.7:5432/db"),
        ("mysql -h db -u me -phidden db < a.sql", "mysql -h db -u me -p*** db < a.sql"),
        (
            "mysqldump -p'hid den' db; mysql -p\"a b\"",
            "mysqldump -p*** db; mysql -p***",
        ),
        ("https://host/y?key=0a1B2c3D4e5F6g7H8i9J&n=1", "https://host/y?key=***&n=1"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\n"
            "Proc-Type: 4,ENCRYPTED\n"
            "DEK-Info: AES-128-CBC,A\n"
            "\n"
            "MI\n"
            "-----END RSA PRIVATE KEY----- b",
            "*** b",
        ),
    ],
)
def test_secrets_within_a_text_are_masked(text: str, shown: str) -> None:
    assert without_credentials([text]) == [shown]


DRAWN = "0a1B2c3D4e5F6g7H8i9J"
#: A key of each kind.
KEYS = [
    *(f"{beginning}{DRAWN}{DRAWN}" for beginning in (
        "sk- sk-ant-api03- sk-proj- sk-or-v1- sk_live_ pk-lf- hf_ ghp_ gho_ "
        "github_pat_ glpat- gsk_ tgp_v1_ csk- xai- nvapi- r8_ pplx- lsv2_pt_ tvly- "
        "AIza ya29. GOCSPX- xoxb- xapp-1- npm_ pypi- dckr_pat_ dapi glsa_ hvs. shpat_ "
        "dop_v1_ SG. tskey-"
    ).split()),
    "AKIA0123456789ABCDEF", "ASIA0123456789ABCDEF", f"123456789:AA{DRAWN}{DRAWN}",
    f"eyJhbGciOiJI.eyJzdWIiOiIx.{DRAWN}", f"hooks.slack.com/services/T00000000/B00000000/{DRAWN}",
]  # fmt: skip


@pytest.mark.parametrize(
    "beginning", "github_pat_ gsk_ xai- nvapi- r8_ glpat- hf_ ghp_".split()
)
def test_beginnings_that_nothing_else_has_are_enough(beginning: str) -> None:
    assert without_credentials([f"{beginning}{'abcdefgh' * 4}"]) == ["***"]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_known_by_its_looks(key: str) -> None:
    for text in (key, f"failed: {key}.", f"a,{key},b", f'"{key}"', f"({key})"):
        assert (
            DRAWN not in without_credentials({"said": text})["said"]
            and "***" in without_credentials([text])[0]
        )


@pytest.mark.parametrize("unit", [
    "a", " ", "a=", "token=", "token='", 'token="', "token=[", "--token ", "-u a:",
    "a:aaaaaa@a.", " a:aaaaaa@a.a.a", "mysql ", "mysql -p ", "://", "://a:", "sk-", "ey",
    "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "&sig=", "Cookie: ", "Bearer ", "a.b-",
    "api_key: ", "token: ", "\ntoken: ", "auth='a", "A_", "aB",
])  # fmt: skip
@pytest.mark.timeout(20)  # two minutes and more where time grows with the square
def test_long_texts_take_linear_time(unit: str) -> None:
    assert without_credentials([unit * (250_000 // len(unit))])
    assert without_credentials({unit * (250_000 // len(unit)): "x"}) is not None


@pytest.mark.parametrize(
    "text",
    [
        "the total cost of cookies = 7 * 87, and 3 per oatmeal cookie = "
        "<<27/3/4=2.25>>",
        "docker run -u 1000:1000 image; python -u run.py; curl -u http://host:80/",
        "https://medium.com/@someone/a-story and https://host:8080/@scope/package",
        "a cipher key: 8 letters; sort_key=question_id, stop_token='</s>', pass@1=0.5, "
        "max_tokens=512",
        "hf_transfer, r8_is_short, xai-org/grok-1, gsk_, glpat, eyJ, "
        "pa-rticularly-long-hyphenated-words",
        "docker://python@sha256:0a1b2c3d4e5f, "
        "agent.py?policy=greedy&seed=1&key=question_id, -gpu cuda:0",
        "Token: 5 words at most. Secret: 42 is hidden",
        "secret: a game of spies",
        "What is the password? It is a secret: nobody knows.",
        "api key is needed",
        "Mail:somebody@mail.example.com/x, to a:b@c.example.com/d, at "
        "12:30@gmail.com/x, name:somebody@gmail.com/x",
        "write to me:somebody@mail.example.com. x[a:weights@other.values/2], lambda "
        "x:weights@x.values/2",
        "x[0,a:weights@a.b.values/2] + y[a:matrix2@b.T:3], "
        "python:3.11-slim@sha256:0a1b, npm:package@1.2.3/dist",
        "mysql -p -P3306 db, mysql --port=3306, find / -name mysql -print, docker run "
        "mysql -p3306:3306 -d",
        "mysql -p$PASSWORD -u me; mysqldump -p<password> db | grep -print",
        "task-oriented-dialogue-2024-long-name, risk-assessment-of-2024-models, "
        "sk-learn-regression-model",
        "https://host/path?tokens=5",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert without_credentials({"text": text}) == {"text": text}


@pytest.mark.parametrize(
    "words", [["Password:", "Token:"], ["token", "sentence"], ["secret", "public"]]
)
def test_two_words_of_a_kind_are_no_pair_of_name_and_value(words: list[str]) -> None:
    assert without_credentials({"until": words}) == {"until": words}


def test_what_is_nested_too_deep_to_look_through_is_left_out() -> None:
    deep: list[object] = ["sk-0a1b2c3d4e5f6g7h8i9j"]
    for _ in range(5000):
        deep = [deep]
    assert without_credentials({"deep": deep}) == {}
