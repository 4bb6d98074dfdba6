"""Keys that are known by their looks, and texts that look drawn: one row for each kind.

Where a service's keys begin with letters of their own, these do; the sources are the
public rule lists of gitleaks (``config/gitleaks.toml``, MIT) and detect-secrets
(``plugins/``, Apache 2.0), else the pages of the service. Lengths are taken shorter
than there: keys of tests, and of services that change them, are keys too. All patterns
are linear in the length of a text: what repeats without bound is followed by nothing
that it might be.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

#: What stands in a text in place of a key or password.
MASK = "***"


@dataclass(frozen=True)
class KeyShape:
    """A pattern that the keys of a service match."""

    of: str  #: whose, or what, they are.
    pattern: str  #: a regular expression; group ``kept``, if there is one, stays.
    marks: tuple[str, ...]  #: texts of which each key has one, as a quick test.
    source: str  #: the rule that it follows.
    drawn: bool = False  #: whether it must look drawn too, as words may look so.


_REST = r"[A-Za-z0-9_-]"
LOOKS = (
    KeyShape("OpenAI, Anthropic, Stripe and those that write them alike", rf"\b[spr]k[-_]{_REST}{{16,}}",
         ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), "gitleaks: openai-api-key, anthropic-api-key, stripe-access-token",
         drawn=True),
    KeyShape("Hugging Face", r"\b(?:hf|api_org)_[A-Za-z0-9]{20,}", ("hf_", "api_org_"), "gitleaks: huggingface-*"),
    KeyShape("GitHub", r"\b(?:gh[pousr]|github_pat)_\w{20,}", ("gh", "github_pat_"), "gitleaks: github-*"),
    KeyShape("GitLab", rf"\bgl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas|ffct)-{_REST}{{16,}}", ("gl",),
         "gitleaks: gitlab-*"),
    KeyShape("Groq, Together, Fireworks, Cerebras, xAI", rf"\b(?:gsk_|tgp_v1_|fw_|csk-|xai-)[A-Za-z0-9]{{16}}{_REST}*",
         ("gsk_", "tgp_v1_", "fw_", "csk-", "xai-"), "pages of the services"),
    KeyShape("NVIDIA", rf"\bnvapi-{_REST}{{16,}}", ("nvapi-",), "pages of the service"),
    KeyShape("Replicate", r"\br8_[A-Za-z0-9]{16,}", ("r8_",), "pages of the service"),
    KeyShape("Perplexity, LangSmith, Tavily, Jina, Firecrawl; Voyage (longer than an id)",
         rf"\b(?:(?:pplx-|lsv2_(?:pt|sk)_|tvly-|jina_|fc-){_REST}{{16,}}|pa-{_REST}{{40,}})",
         ("pplx-", "lsv2_", "tvly-", "jina_", "fc-", "pa-"), "gitleaks: perplexity-api-key; pages of the services",
         drawn=True),
    KeyShape("AWS", r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", ("A3T", "AKIA", "ASIA", "ABIA", "ACCA"),
         "gitleaks: aws-access-token"),
    KeyShape("AWS Bedrock", r"\bABSK[A-Za-z0-9+/]{40,}={0,2}", ("ABSK",), "gitleaks: aws-amazon-bedrock-api-key-*"),
    KeyShape("Google", rf"\b(?:AIza{_REST}{{30,}}|ya29\.{_REST}{{20,}}|GOCSPX-{_REST}{{20,}})",
         ("AIza", "ya29.", "GOCSPX-"), "gitleaks: gcp-api-key; detect-secrets: gcp"),
    KeyShape("Google, of accounts", rf"\b(?:AQ\.{_REST}{{30,}}|1//0{_REST}{{24,}})", ("AQ.", "1//0"),
         "pages of the service"),
    KeyShape("Azure", r"\b[A-Za-z0-9]{20,84}JQQJ99[A-Za-z0-9]{6,60}|[\w.~]{3}\dQ~[\w.~-]{31,34}",
         ("JQQJ99", "Q~"), "gitleaks: azure-ad-client-secret; documents of the service"),
    KeyShape("Fireworks, Weights & Biases, Anyscale", rf"\b(?:fpk_|wandb_v1_|esecret_){_REST}{{20,}}",
         ("fpk_", "wandb_v1_", "esecret_"), "pages of the services"),
    KeyShape("Resend", rf"\bre_{_REST}{{20,}}", ("re_",), "pages of the service", drawn=True),
    KeyShape("Twilio", r"\b(?:SK|AC)[0-9a-f]{32}\b", ("SK", "AC"), "gitleaks: twilio-api-key"),
    KeyShape("age, 1Password, JFrog, Alibaba, ClickHouse, Atlassian, Meta, Dropbox, Dynatrace",
         r"\b(?:AGE-SECRET-KEY-1[A-Z0-9]{20,}|A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}|ops_eyJ[A-Za-z0-9+/]{40,}"
         r"|AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{50,}|LTAI[A-Za-z0-9]{16,}|4b1d[A-Za-z0-9]{38}\b"
         rf"|ATATT3{_REST}{{30,}}|EAA[A-Z][A-Za-z0-9]{{60,}}|sl\.(?:u\.)?{_REST}{{60,}}"
         r"|dt0[a-z]01\.[A-Za-z0-9]{20,}\.[A-Za-z0-9]{20,})",
         ("AGE-SECRET", "A3-", "ops_eyJ", "AKCp", "cmVmd", "LTAI", "4b1d", "ATATT3", "EAA", "sl.", "dt0"),
         "gitleaks: rules of these names"),
    KeyShape("other services whose keys begin with letters of their own",
         rf"\b(?:dp\.(?:pt|st|ct|sa)\.|duffel_(?:test|live)_|EZ[AT]K|fo1_|fm[12][ar]?_|FLW(?:SEC|PUB)K_TEST-|fio-u-"
         rf"|HRKU-|lin_(?:api|oauth)_|NR(?:AK|JS|AA|II|SP|BR)-|nfp_|pscale_(?:pw|tkn|oauth)_|PMAK-|pnu_|pul-|rdme_|rubygems_"
         rf"|sntry[su]_|sgp_|EAAA|sq0(?:atp|csp)-|[A-Za-z0-9]{{14}}\.atlasv1\.|tfp_|bkua_|ph[cx]_|ntn_|figd_|ico-|CFPAT-|p8e-"
         rf"|xkeysib-|xsmtpsib-|whsec_|ory_(?:at|st|pat)_|shippo_(?:test|live)_|CLOJARS_|glc_|key-"
         rf"|secret_|aio_|sbp_|sb_secret_|waka_|dnkey-|rnd_){_REST}{{18,}}",
         ("dp.", "duffel_", "EZAK", "EZTK", "fo1_", "fm1", "fm2", "FLW", "fio-u-", "HRKU-", "lin_", "NRAK-", "NRJS-",
          "NRAA-", "NRII-", "NRSP-", "NRBR-", "nfp_", "pscale_", "PMAK-", "pnu_", "pul-", "rdme_", "rubygems_", "sntry",
          "sgp_", "EAAA", "sq0", "atlasv1", "tfp_", "bkua_", "phc_", "phx_", "ntn_", "figd_", "ico-", "CFPAT-", "p8e-",
          "xkeysib-", "xsmtpsib-", "whsec_", "ory_", "shippo_", "CLOJARS_", "glc_", "key-", "secret_", "aio_", "sbp_",
          "sb_secret_", "waka_", "dnkey-", "rnd_"),
         "gitleaks: rules of these names; pages of the services", drawn=True),
    KeyShape("Slack", r"\bx(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}", ("xox", "xapp-"), "gitleaks: slack-*", drawn=True),
    KeyShape("webhooks of Slack, Discord and Teams",
         r"(?P<kept>hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/"
         r"|webhook\.office\.com/webhookb2/)[\w/@-]{20,}",
         ("hooks.slack.com", "/webhooks/", "webhook.office.com"),
         "gitleaks: slack-webhook-url, microsoft-teams-webhook; detect-secrets: discord"),
    KeyShape("Telegram", rf"\b\d{{8,10}}:AA{_REST}{{30,}}", (":AA",), "detect-secrets: telegram_token"),
    KeyShape("npm, PyPI, Docker, Databricks, Grafana, Vault, Shopify, DigitalOcean, SendGrid, Tailscale",
         r"\b(?:npm_|pypi-|dckr_pat_|dapi|glsa_|hv[sb]\.|shp(?:at|ca|pa|ss)_|do[opr]_v1_|SG\.|tskey-)[\w.-]{20,}",
         ("npm_", "pypi-", "dckr_pat_", "dapi", "glsa_", "hvs.", "hvb.", "shp", "_v1_", "SG.", "tskey-"),
         "gitleaks: rules of these names", drawn=True),
    KeyShape("JSON Web Token", r"\bey[A-Za-z0-9_-]{8,}\.ey[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", (".ey",),
         "gitleaks: jwt; RFC 7519"),
    KeyShape("Bearer and Basic", r"(?i)\b(?P<kept>bearer |basic )[\w.~+/=-]{16,}",
         ("earer ", "EARER ", "asic ", "ASIC "), "RFC 6750, RFC 7617; gitleaks: curl-auth-header", drawn=True),
    KeyShape("private keys",
         r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*"
         r"(?:-----END [A-Z0-9 ]{1,90}-----)?",
         ("PRIVATE KEY",), "gitleaks: private-key; RFC 7468"),
    KeyShape("signed URLs",
         r"(?i)(?P<kept>[?&;](?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|key-pair-id"
         r"|awsaccesskeyid)=)[^\s&#\"'<>]+",
         ("=",), "detect-secrets: azure_storage_key; documents of SAS, SigV4, V4 of Google, CloudFront"),
    KeyShape("keys in URLs", r"(?i)(?P<kept>[?&](?:key|code|policy)=)[^\s&#\"'<>]{16,}", ("=",),
         "documents of Google's API keys, Azure Functions, CloudFront", drawn=True),
)  # fmt: skip
#: What each key has that is no parameter of a URL: most settings have no such part, and
#: need no further look.
_LONG_PART = re.compile(r"[A-Za-z0-9_/+.:=~-]{14}")
_PARTS = re.compile(r"[A-Za-z0-9]{8,}")


def masked_looks(text: str) -> str:
    """A text with :data:`MASK` for what looks like a key."""
    if (
        "=" not in text
        and "PRIVATE KEY" not in text
        and _LONG_PART.search(text) is None
    ):
        return text
    for look in LOOKS:
        if any(mark in text for mark in look.marks):
            text = _compiled(look.pattern).sub(_mask(look), text)
    return text


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when it is first needed: together they take longer than many a command.
    The edge of a word at its beginning is one behind an underscore, too, as names of
    files have it."""
    if pattern.startswith(r"\b"):
        pattern = f"(?<![A-Za-z0-9]){pattern[2:]}"
    return re.compile(pattern)


def _mask(look: KeyShape) -> Callable[[re.Match[str]], str]:
    def mask(found: re.Match[str]) -> str:
        kept = found.groupdict().get("kept") or ""
        if not look.drawn or looks_drawn(found[0][len(kept) :]):
            return kept + MASK
        return found[0]

    return mask


def looks_drawn(text: str) -> bool:
    """Whether a text is none that people write: a part of eight or more has letters and
    several digits, or is long and has letters of both cases in no order of words."""
    return any(_is_drawn(part) for part in _PARTS.findall(text[:1000]))


def looks_mixed(text: str) -> bool:
    """Whether a text of six or more has letters and digits, and no blank."""
    has_both = any(sign.isdigit() for sign in text) and any(
        sign.isalpha() for sign in text
    )
    return has_both and len(text) >= 6 and not re.search(r"\s", text)


def _is_drawn(part: str) -> bool:
    digits = sum(sign.isdigit() for sign in part)
    if 2 <= digits < len(part):
        return True
    changes = sum(
        before.islower() != other.islower()
        for before, other in zip(part, part[1:], strict=False)
    )
    return len(part) >= 16 and changes >= len(part) / 4
