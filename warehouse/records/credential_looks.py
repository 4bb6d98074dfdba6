"""Keys and passwords that are known by their looks, whatever name they have.

One row for each kind. Where a service's keys begin with letters of their own, these do; the sources are the public
rule lists of gitleaks (``config/gitleaks.toml``, MIT) and detect-secrets (``plugins/``, Apache 2.0), else the pages
of the service. Lengths are taken shorter than there: keys of tests, and of services that change them, are keys too.

All patterns are linear in the length of a text: what repeats without bound is followed by nothing that it might be.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

#: What stands in a text in place of a key or password.
MASK = "***"


@dataclass(frozen=True)
class Look:
    """How the keys of a service look.

    Args:
        of: whose, or what, they are.
        pattern: a regular expression; group ``kept``, if there is one, stays.
        marks: texts of which each key has one, as a quick test.
        source: the rule that it follows.
        drawn: whether it must look drawn too, as words may look so.
    """

    of: str
    pattern: str
    marks: tuple[str, ...]
    source: str
    drawn: bool = False


_REST = r"[A-Za-z0-9_-]"
LOOKS = (
    Look("OpenAI, Anthropic, Stripe and those that write them alike", rf"\b[spr]k[-_]{_REST}{{16,}}",
         ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), "gitleaks: openai-api-key, anthropic-api-key, stripe-access-token",
         drawn=True),
    Look("Hugging Face", r"\b(?:hf|api_org)_[A-Za-z0-9]{20,}", ("hf_", "api_org_"), "gitleaks: huggingface-*"),
    Look("GitHub", r"\b(?:gh[pousr]|github_pat)_\w{20,}", ("gh", "github_pat_"), "gitleaks: github-*"),
    Look("GitLab", rf"\bgl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas|ffct)-{_REST}{{16,}}", ("gl",),
         "gitleaks: gitlab-*"),
    Look("Groq, Together, Fireworks, Cerebras, xAI", rf"\b(?:gsk_|tgp_v1_|fw_|csk-|xai-)[A-Za-z0-9]{{16}}{_REST}*",
         ("gsk_", "tgp_v1_", "fw_", "csk-", "xai-"), "pages of the services"),
    Look("NVIDIA", rf"\bnvapi-{_REST}{{16,}}", ("nvapi-",), "pages of the service"),
    Look("Replicate", r"\br8_[A-Za-z0-9]{16,}", ("r8_",), "pages of the service"),
    Look("Perplexity, LangSmith, Tavily, Jina, Firecrawl, Voyage",
         rf"\b(?:pplx-|lsv2_(?:pt|sk)_|tvly-|jina_|fc-|pa-){_REST}{{16,}}",
         ("pplx-", "lsv2_", "tvly-", "jina_", "fc-", "pa-"), "gitleaks: perplexity-api-key; pages of the services",
         drawn=True),
    Look("AWS", r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", ("A3T", "AKIA", "ASIA", "ABIA", "ACCA"),
         "gitleaks: aws-access-token"),
    Look("AWS Bedrock", r"\bABSK[A-Za-z0-9+/]{40,}={0,2}", ("ABSK",), "gitleaks: aws-amazon-bedrock-api-key-*"),
    Look("Google", rf"\b(?:AIza{_REST}{{30,}}|ya29\.{_REST}{{20,}}|GOCSPX-{_REST}{{20,}})",
         ("AIza", "ya29.", "GOCSPX-"), "gitleaks: gcp-api-key; detect-secrets: gcp"),
    Look("Slack", r"\bx(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}", ("xox", "xapp-"), "gitleaks: slack-*", drawn=True),
    Look("webhooks of Slack and Discord",
         r"(?P<kept>hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)[\w/-]{20,}",
         ("hooks.slack.com", "/webhooks/"), "gitleaks: slack-webhook-url; detect-secrets: discord"),
    Look("Telegram", rf"\b\d{{8,10}}:AA{_REST}{{30,}}", (":AA",), "detect-secrets: telegram_token"),
    Look("npm, PyPI, Docker, Databricks, Grafana, Vault, Shopify, DigitalOcean, SendGrid, Tailscale",
         r"\b(?:npm_|pypi-|dckr_pat_|dapi|glsa_|hv[sb]\.|shp(?:at|ca|pa|ss)_|do[opr]_v1_|SG\.|tskey-)[\w.-]{20,}",
         ("npm_", "pypi-", "dckr_pat_", "dapi", "glsa_", "hvs.", "hvb.", "shp", "_v1_", "SG.", "tskey-"),
         "gitleaks: rules of these names", drawn=True),
    Look("JSON Web Token", r"\bey[A-Za-z0-9_-]{8,}\.ey[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", (".ey",),
         "gitleaks: jwt; RFC 7519"),
    Look("Bearer and Basic", r"(?i)\b(?P<kept>bearer |basic )[\w.~+/=-]{16,}", ("earer ", "EARER ", "asic ", "ASIC "),
         "RFC 6750, RFC 7617; gitleaks: curl-auth-header", drawn=True),
    Look("private keys",
         r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*"
         r"(?:-----END [A-Z0-9 ]{1,90}-----)?",
         ("PRIVATE KEY",), "gitleaks: private-key; RFC 7468"),
    Look("signed URLs",
         r"(?i)(?P<kept>[?&;](?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|key-pair-id"
         r"|awsaccesskeyid)=)[^\s&#\"'<>]+",
         ("=",), "detect-secrets: azure_storage_key; documents of SAS, SigV4, V4 of Google, CloudFront"),
    Look("keys in URLs", r"(?i)(?P<kept>[?&](?:key|code|policy)=)[^\s&#\"'<>]{16,}", ("=",),
         "documents of Google's API keys, Azure Functions, CloudFront", drawn=True),
)  # fmt: skip
_COMPILED = tuple((look, re.compile(look.pattern)) for look in LOOKS)
_PARTS = re.compile(r"[A-Za-z0-9]{8,}")


def masked_looks(text: str) -> str:
    """A text with :data:`MASK` for what looks like a key."""
    for look, pattern in _COMPILED:
        if any(mark in text for mark in look.marks):
            text = pattern.sub(_mask(look), text)
    return text


def _mask(look: Look) -> Callable[[re.Match[str]], str]:
    def mask(found: re.Match[str]) -> str:
        kept = found.groupdict().get("kept") or ""
        return kept + MASK if not look.drawn or looks_drawn(found[0][len(kept) :]) else found[0]

    return mask


def looks_drawn(text: str) -> bool:
    """Whether a text is none that people write: a part of eight or more has letters and several digits, or is long
    and has letters of both cases in no order of words."""
    return any(_is_drawn(part) for part in _PARTS.findall(text[:1000]))


def _is_drawn(part: str) -> bool:
    digits = sum(sign.isdigit() for sign in part)
    if 2 <= digits < len(part):
        return True
    changes = sum(one.islower() != other.islower() for one, other in zip(part, part[1:], strict=False))
    return len(part) >= 16 and changes >= len(part) / 4
