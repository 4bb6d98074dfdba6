"""How likely what stands under a name is a key or password, by the words of the name."""

from __future__ import annotations

import enum
import re
from functools import lru_cache


class Secrecy(enum.IntEnum):
    """How surely what has a name is a secret."""

    NONE = 0
    DRAWN = 1  # if it looks drawn
    LIKELY = 2  # if it is a word, and no plain one
    CERTAIN = 3


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
#: The last word, whatever stands before it.
_ALONE = frozenset(
    "password passwords passwd pwd passphrase passphrases passcode secret secrets "
    "credential credentials authorization creds cookie cookies apikey apikeys "
    "accesskey secretkey privatekey authkey authtoken accesstoken"
    " refreshtoken bearertoken apitoken connectionstring".split()
)
#: Whose key, keys, token or tokens it is, where that says it all.
_KEY_OF = frozenset(
    "api secret private subscription access auth account storage client service app "
    "application encryption signing"
    " signature master ssh deploy license hmac admin priv db database".split()
)
_TOKEN_OF = frozenset(
    "api auth access bearer hf hub secret refresh session csrf jwt oauth security id "
    "bot user app service personal"
    " deploy github gitlab slack npm pypi registry".split()
)
_PROVIDERS = frozenset(
    "openai anthropic azure aws amazon google gemini vertex mistral cohere together "
    "fireworks deepseek groq xai grok nvidia nim replicate huggingface hf openrouter "
    "perplexity cerebras sambanova deepinfra anyscale lepton voyage jina wandb "
    "langsmith langfuse comet mlflow tavily serper serpapi exa brave github gitlab "
    "slack discord stripe twilio sendgrid datadog sentry modal runpod e2b daytona "
    "pinecone weaviate qdrant supabase databricks"
    " snowflake".split()
)
#: What a key or token is that is none of a service: of a table, a metric, a vocabulary.
_PLAIN_KEYS = frozenset(
    "primary foreign sort partition join group cache config metric score input output "
    "target label image audio video text doc document dataset data prompt question "
    "answer response choice choices reward task index row column field record sample "
    "model map dict json item run result public natural composite unique order filter"
    " state hash lookup request id name split subset category class type by per feature version message".split()
)
_PLAIN_TOKENS = frozenset(
    "bos eos pad unk sep cls mask stop start end begin begin_of end_of image audio "
    "video vision special max min num n next prev previous last first new old input "
    "output prompt completion answer think thinking reasoning tool turn sot eot eom "
    "eod fim prefix suffix middle separator delimiter decoder encoder vocab total used "
    "cached per by final single space newline boundary control system assistant "
    "message word sub subword padding"
    " target gold trigger correct incorrect predicted expected choice option label".split()
)
#: Words next to a ``pass`` that is not a password.
_PLAIN_PASSES = frozenset(
    "first second third last n num all any tests test forward backward single multi "
    "one two three full final by to"
    " did does can must should will pass fail not no is at k rate rates count threshold criteria".split()
)
_OF_ACCOUNTS = frozenset("sig signature jwt pat auth bearer passkey dsn".split())
#: What may stand behind a name and changes nothing.
_BEHIND = frozenset(
    "prod production dev staging live old new b64 base64 encoded header value str string".split()
)
#: Plain words that end so.
_NO_PASSES = ("bypass", "compass", "trespass", "surpass", "overpass", "underpass")
_RUN_TOGETHER = (
    "apikey",
    "accesskey",
    "secretkey",
    "accesstoken",
    "authtoken",
    "password",
    "passwd",
    "passphrase",
)


@lru_cache(4096)
def secrecy_of(name: str) -> Secrecy:
    """How likely a value with this name is a secret, by the name alone.

    >>> secrecy_of("OPENAI_API_KEY"), secrecy_of("max_tokens"), secrecy_of("db_pass")
    (<Secrecy.CERTAIN: 3>, <Secrecy.NONE: 0>, <Secrecy.LIKELY: 2>)
    """
    words = [word.lower() for word in _WORDS.findall(name[-200:])]
    if tuple(words[-2:]) in {
        ("connection", "string"),
        ("conn", "string"),
        ("conn", "str"),
    }:
        return Secrecy.CERTAIN
    while len(words) > 1 and words[-1] in _BEHIND:
        words.pop()
    if not words:
        return Secrecy.NONE
    in_environment = _ENVIRONMENT.fullmatch(name) is not None
    *before, last = words
    if last in _ALONE or last.endswith(_RUN_TOGETHER):
        return Secrecy.CERTAIN
    if last in ("key", "keys"):
        return _of_key(before, last, in_environment)
    if last in ("token", "tokens"):
        return _of_token(before, last, in_environment)
    if in_environment and any(map(_is_password, ["", *words], words, [*words[1:], ""])):
        return Secrecy.CERTAIN
    return _of_another(name, before, last)


def _of_key(before: list[str], last: str, in_environment: bool) -> Secrecy:
    owner = ""
    if before:
        owner = before[-1]
    if owner in _KEY_OF or (owner in _PROVIDERS and last == "key"):
        return Secrecy.CERTAIN
    if owner in _PROVIDERS:
        return Secrecy.DRAWN  # keys: of services, or of what is spelled alike
    if not owner or owner in _PLAIN_KEYS or last == "keys":
        return Secrecy.NONE
    if in_environment:
        return Secrecy.CERTAIN
    return Secrecy.DRAWN


def _of_token(before: list[str], last: str, in_environment: bool) -> Secrecy:
    owner = ""
    if before:
        owner = before[-1]
    if last == "tokens":
        if owner in _TOKEN_OF - {"id", "user", "app", "session", "bot"}:
            return Secrecy.CERTAIN
        return Secrecy.NONE
    if not owner or owner in _TOKEN_OF or owner in _PROVIDERS:
        return Secrecy.CERTAIN
    if owner in _PLAIN_TOKENS:
        return Secrecy.NONE
    if in_environment:
        return Secrecy.CERTAIN
    return Secrecy.LIKELY


def _is_password(before: str, word: str, after: str) -> bool:
    """Whether a word between two others is that of a password, among names of an
    environment."""
    if word == "pass":
        return bool(before) and _PLAIN_PASSES.isdisjoint((before, after))
    return (
        "password" in word
        or "passphrase" in word
        or (word.endswith("pass") and not word.endswith(_NO_PASSES))
    )


def _of_another(name: str, before: list[str], last: str) -> Secrecy:
    if last == "signature" and before[-1:] in (["amz"], ["goog"]):
        return Secrecy.CERTAIN
    if last == "pass" and before:
        if before[-1] in _PLAIN_PASSES:
            return Secrecy.NONE
        return Secrecy.LIKELY
    if name in ("pass", "Pass", "pw", "PW"):
        return Secrecy.LIKELY
    if last == "auth" and before[-1:] in (["basic"], ["proxy"], ["http"]):
        return Secrecy.CERTAIN
    if _is_password("", last, ""):
        return Secrecy.LIKELY
    if last in _OF_ACCOUNTS or "password" in before:
        return Secrecy.DRAWN
    return Secrecy.NONE
