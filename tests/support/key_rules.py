"""What keys look like: our own expressions for the formats that gitleaks' public rules
(``config/gitleaks.toml``, MIT) and the pages of services describe, with a made-up key
of each; an oracle that knows nothing of our masking."""

from __future__ import annotations

import random
import re
import string

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"

#: id of the rule: (what a key matches, how one is made: parts, and (alphabet, length)
#: for what is drawn).
RULES: dict[str, tuple[str, tuple[str | tuple[str, int], ...]]] = {
    "1password-secret-key": (r"A3-[A-Z0-9]{6}-[A-Z0-9]{11}(-[A-Z0-9]{5}){3}", (
        "A3-", (UPPER, 6), "-", (UPPER, 11), "-", (UPPER, 5), "-", (UPPER, 5), "-", (UPPER, 5))),
    "1password-service-account": (r"ops_eyJ[a-zA-Z0-9+/]{250,}", ("ops_eyJ", (LETTERS, 252))),
    "adobe-client-secret": (r"p8e-[a-zA-Z0-9]{32}", ("p8e-", (LETTERS, 32))),
    "age-secret-key": (r"AGE-SECRET-KEY-1[A-Z0-9]{58}", ("AGE-SECRET-KEY-1", (UPPER, 58))),
    "alibaba": (r"LTAI[a-zA-Z0-9]{20}", ("LTAI", (LETTERS, 20))),
    "anthropic": (r"sk-ant-api03-[\w-]{93}AA", ("sk-ant-api03-", (LETTERS, 93), "AA")),
    "artifactory": (r"AKCp[A-Za-z0-9]{69}", ("AKCp", (LETTERS, 69))),
    "artifactory-reference": (r"cmVmd[A-Za-z0-9]{59}", ("cmVmd", (LETTERS, 59))),
    "atlassian": (r"ATATT3[\w=-]{186}", ("ATATT3", (LETTERS, 186))),
    "aws": (r"(AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", ("AKIA", (UPPER, 16))),
    "azure-ad": (r"[\w~.]{3}\dQ~[\w~.-]{31,34}", ("abC8Q~", (LETTERS, 33))),
    "azure-openai": (r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}", ((LETTERS, 52), "JQQJ99", (LETTERS, 26))),
    "clickhouse": (r"4b1d[A-Za-z0-9]{38}", ("4b1d", (LETTERS, 38))),
    "databricks": (r"dapi[a-f0-9]{32}", ("dapi", (HEX, 32))),
    "digitalocean": (r"do[opr]_v1_[a-f0-9]{64}", ("dop_v1_", (HEX, 64))),
    "discord-webhook": (r"discord\.com/api/webhooks/\d+/\w+", (
        "https://discord.com/api/webhooks/123456789012345678/", (LETTERS, 60))),
    "doppler": (r"dp\.pt\.[a-zA-Z0-9]{43}", ("dp.pt.", (LETTERS, 43))),
    "duffel": (r"duffel_(test|live)_\w{43}", ("duffel_live_", (LETTERS, 43))),
    "dynatrace": (r"dt0c01\.[a-zA-Z0-9]{24}\.[a-zA-Z0-9]{64}", ("dt0c01.", (LETTERS, 24), ".", (LETTERS, 64))),
    "easypost": (r"EZAK[a-zA-Z0-9]{54}", ("EZAK", (LETTERS, 54))),
    "facebook": (r"EAA[MC][a-zA-Z0-9]{100,}", ("EAAM", (LETTERS, 110))),
    "figma": (r"figd_[\w-]{40}", ("figd_", (LETTERS, 40))),
    "fireworks": (r"fpk_[A-Za-z0-9]{24,}", ("fpk_", (LETTERS, 24))),
    "fly": (r"fo1_[\w-]{43}", ("fo1_", (LETTERS, 43))),
    "frameio": (r"fio-u-[\w=-]{64}", ("fio-u-", (LETTERS, 64))),
    "gcp": (r"AIza[\w-]{35}", ("AIza", (LETTERS, 35))),
    "gemini-express": (r"AQ\.[\w-]{40,}", ("AQ.", (LETTERS, 50))),
    "google-refresh": (r"1//0[\w-]{40,}", ("1//0", (LETTERS, 60))),
    "github": (r"(ghp|gho|ghu|ghs|ghr)_[0-9a-zA-Z]{36}", ("ghp_", (LETTERS, 36))),
    "github-fine-grained": (r"github_pat_\w{82}", ("github_pat_", (LETTERS, 82))),
    "gitlab": (r"glpat-[\w-]{20}", ("glpat-", (LETTERS, 20))),
    "grafana": (r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", ("glsa_", (LETTERS, 32), "_", (HEX, 8))),
    "groq": (r"gsk_[A-Za-z0-9]{52}", ("gsk_", (LETTERS, 52))),
    "heroku": (r"HRKU-AA[\w-]{58}", ("HRKU-AA", (LETTERS, 58))),
    "huggingface": (r"hf_[a-zA-Z0-9]{34}", ("hf_", (LETTERS, 34))),
    "infracost": (r"ico-[a-zA-Z0-9]{32}", ("ico-", (LETTERS, 32))),
    "jwt": (r"ey[a-zA-Z0-9]{17,}\.ey[a-zA-Z0-9]{17,}\.[\w-]{10,}", (
        "eyJh", (LETTERS, 30), ".eyJz", (LETTERS, 40), ".", (LETTERS, 43))),
    "linear": (r"lin_api_[a-zA-Z0-9]{40}", ("lin_api_", (LETTERS, 40))),
    "mailgun": (r"key-[a-f0-9]{32}", ("key-", (HEX, 32))),
    "netlify": (r"nfp_[a-zA-Z0-9]{36}", ("nfp_", (LETTERS, 36))),
    "new-relic": (r"NRAK-[A-Z0-9]{27}", ("NRAK-", (UPPER, 27))),
    "notion": (r"ntn_[0-9]{11}[A-Za-z0-9]{35}", ("ntn_", (string.digits, 11), (LETTERS, 35))),
    "npm": (r"npm_[a-zA-Z0-9]{36}", ("npm_", (LETTERS, 36))),
    "nvidia": (r"nvapi-[\w-]{64}", ("nvapi-", (LETTERS, 64))),
    "openai": (r"sk-proj-[\w-]{58}T3BlbkFJ[\w-]{58}", ("sk-proj-", (LETTERS, 58), "T3BlbkFJ", (LETTERS, 58))),
    "openrouter": (r"sk-or-v1-[a-f0-9]{64}", ("sk-or-v1-", (HEX, 64))),
    "perplexity": (r"pplx-[a-zA-Z0-9]{48}", ("pplx-", (LETTERS, 48))),
    "planetscale": (r"pscale_tkn_[\w.=-]{43}", ("pscale_tkn_", (LETTERS, 43))),
    "postman": (r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", ("PMAK-", (HEX, 24), "-", (HEX, 34))),
    "prefect": (r"pnu_[a-zA-Z0-9]{36}", ("pnu_", (LETTERS, 36))),
    "private-key": (r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{64,}?KEY", (
        "-----BEGIN RSA PRIVATE KEY-----\n", (LETTERS, 64), "\n-----END RSA PRIVATE KEY-----")),
    "pulumi": (r"pul-[a-f0-9]{40}", ("pul-", (HEX, 40))),
    "pypi": (r"pypi-AgEIcHlwaS5vcmc[\w-]{50,}", ("pypi-AgEIcHlwaS5vcmc", (LETTERS, 60))),
    "readme": (r"rdme_[a-z0-9]{70}", ("rdme_", (HEX, 70))),
    "replicate": (r"r8_[A-Za-z0-9]{37}", ("r8_", (LETTERS, 37))),
    "rubygems": (r"rubygems_[a-f0-9]{48}", ("rubygems_", (HEX, 48))),
    "sendgrid": (r"SG\.[\w=.-]{66}", ("SG.", (LETTERS, 22), ".", (LETTERS, 43))),
    "sendinblue": (r"xkeysib-[a-f0-9]{64}-[a-z0-9]{16}", ("xkeysib-", (HEX, 64), "-", (HEX, 16))),
    "sentry": (r"sntry[su]_[A-Za-z0-9]{60,}", ("sntryu_", (HEX, 64))),
    "shippo": (r"shippo_(live|test)_[a-fA-F0-9]{40}", ("shippo_live_", (HEX, 40))),
    "shopify": (r"shpat_[a-fA-F0-9]{32}", ("shpat_", (HEX, 32))),
    "slack": (r"xoxb-[0-9]{10,13}-[0-9]{10,13}[a-zA-Z0-9-]*", ("xoxb-123456789012-123456789012-", (LETTERS, 24))),
    "slack-webhook": (r"hooks\.slack\.com/services/T\w+/B\w+/\w+", (
        "https://hooks.slack.com/services/T0ABCDEFG/B0ABCDEFG/", (LETTERS, 24))),
    "sourcegraph": (r"sgp_[a-fA-F0-9]{40}", ("sgp_", (HEX, 40))),
    "square": (r"(EAAA|sq0atp-)[\w-]{22,60}", ("sq0atp-", (LETTERS, 22))),
    "stripe": (r"(sk|rk)_(test|live|prod)_[a-zA-Z0-9]{10,99}", ("sk_live_", (LETTERS, 24))),
    "tailscale": (r"tskey-[a-z]+-\w+-\w+", ("tskey-auth-", (LETTERS, 12), "-", (LETTERS, 32))),
    "tavily": (r"tvly-[A-Za-z0-9]{32}", ("tvly-", (LETTERS, 32))),
    "teams-webhook": (r"webhook\.office\.com/webhookb2/[a-z0-9@-]{30,}/IncomingWebhook/\w{32}", (
        "https://corp.webhook.office.com/webhookb2/", (HEX, 36), "@", (HEX, 36),
        "/IncomingWebhook/", (HEX, 32), "/", (HEX, 36))),
    "telegram": (r"[0-9]{8,10}:AA[\w-]{33}", ("123456789:AA", (LETTERS, 33))),
    "terraform": (r"[a-zA-Z0-9]{14}\.atlasv1\.[\w=-]{60,70}", ((LETTERS, 14), ".atlasv1.", (LETTERS, 65))),
    "together": (r"tgp_v1_[\w-]{43}", ("tgp_v1_", (LETTERS, 43))),
    "twilio": (r"SK[0-9a-f]{32}", ("SK", (HEX, 32))),
    "typeform": (r"tfp_[\w.=-]{59}", ("tfp_", (LETTERS, 59))),
    "vault": (r"hvs\.[\w-]{90,120}", ("hvs.", (LETTERS, 95))),
    "voyage": (r"pa-[\w-]{43}", ("pa-", (LETTERS, 43))),
    "wandb": (r"wandb_v1_[\w-]{40,}", ("wandb_v1_", (LETTERS, 50))),
    "xai": (r"xai-[A-Za-z0-9]{80}", ("xai-", (LETTERS, 80))),
}  # fmt: skip

#: What stands in a text as a key because of its name, with a value that looks like
#: nothing in particular.
PLAIN = "plainwordhidden"
STATED = (
    f"api_key = {PLAIN}7",
    f"'api_key' => '{PLAIN}7'",
    f"<password>{PLAIN}7</password>",
    f'<add key="ApiKey" value="{PLAIN}7"/>',
    f"machine host.example login me password {PLAIN}7",
    f'secret_key = """{PLAIN}7"""',
    f"SecretStr('{PLAIN}7')",
    f"api_key=SecretStr('{PLAIN}7')",
    f"api_key: str = '{PLAIN}7'",
    f"api\u200b_key={PLAIN}7",
    f"OPENAI_API_KEY={PLAIN}7 python run.py",
    f"Authorization: Bearer {PLAIN}7{PLAIN}8",
    f"https://me:{PLAIN}7@host.example/v1",
    f"run --api-key {PLAIN}7",
)


def keys(seed: int = 7) -> dict[str, str]:
    """A made-up key for each rule."""
    generator = random.Random(seed)
    return {
        name: "".join(_part(generator, part) for part in parts)
        for name, (_, parts) in RULES.items()
    }


def _part(generator: random.Random, part: str | tuple[str, int]) -> str:
    if isinstance(part, str):
        return part
    alphabet, length = part
    return "".join(generator.choice(alphabet) for _ in range(length))


_PATTERNS = {name: re.compile(pattern) for name, (pattern, _) in RULES.items()}


def found_in(text: str) -> list[str]:
    """Ids of the rules that find something in a text, and `stated` where a plain value
    is there."""
    found = [name for name, pattern in _PATTERNS.items() if pattern.search(text)]
    return [*found, "stated"] if PLAIN in text else found
