"""Keys and passwords that a dump's configuration holds, left out before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

#: What stands in a text in place of a key or password.
MASK = "***"
_NAME = (
    r"(?:api|access|secret|private|subscription)[_-]?key|(?:api|auth|access|bearer|hf|hub|secret)[_-]?token"
    r"|(?:client|api)?[_-]?secret|password|passwd|authorization|credentials?"
)
_RUN_TOGETHER = "apikey|accesstoken|authtoken|secretkey|password"  # openaiApiKey
_NAMED = re.compile(rf"(?:.*[^a-z])?(?:{_NAME})|.+(?:{_RUN_TOGETHER})|token", re.IGNORECASE)
#: ``name=value`` and ``"name": "value"`` within one text, and ``--name value``.
_STATED = re.compile(r"""(?<![\w.-])([\w.-]{1,60})(\s?=\s?["']?|["']\s?:\s?["'])([^\s,;&"']+)""")
_OPTION = re.compile(r"""(?<![\w-])--([\w-]{1,60})(\s)([^\s,;&"']+)""")
_USER = re.compile(r"://[^/@\s]{1,200}@")
#: Keys of usual services, by their looks, and what each begins with.
_LOOKS = re.compile(
    r"\b(?:sk|rk|pk)-(?=[\w-]{0,60}\d)[\w-]{16,}|\bhf_\w{20,}|\bgh[pousr]_\w{20,}|\bxox[abp]-[\w-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|(?<=\bBearer )[\w.~+/=-]{16,}"
)
_BEGINNINGS = ("sk-", "rk-", "pk-", "hf_", "gh", "xox", "AKIA", "AIza", "Bearer ")


def without_credentials(value: Any) -> Any:
    """What a dump says of a run without keys and passwords: entries with such a name are left out, and in
    texts :data:`MASK` stands for what is stated as one or looks like one.

    Args:
        value: what JSON can hold; mappings become dictionaries. Nested too deep to look through, it is left out.
    """
    try:
        return _kept(value)
    except RecursionError:
        return type(value)()


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        return _masked(value)
    if isinstance(value, Mapping):
        return {
            name: _kept(item) for name, item in value.items() if not (isinstance(name, str) and _is_secret(name, item))
        }
    if isinstance(value, list | tuple):
        return [_kept(item) for item in value]
    return value


def _is_secret(name: str, item: Any) -> bool:
    return isinstance(item, str | list | tuple) and _NAMED.fullmatch(name) is not None


@lru_cache(64)  # what a file says of all its runs stands in each of them
def _masked(text: str) -> str:
    """Linear in the length of a text, whatever it holds: dumps are not trusted."""
    text = _USER.sub(f"://{MASK}@", text)
    text = _OPTION.sub(_mask_if_secret, _STATED.sub(_mask_if_secret, text))
    return _LOOKS.sub(MASK, text) if any(word in text for word in _BEGINNINGS) else text


def _mask_if_secret(stated: re.Match[str]) -> str:
    name, _, value = stated.groups()
    return stated[0].removesuffix(value) + MASK if _NAMED.fullmatch(name) else stated[0]
