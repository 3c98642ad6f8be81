"""Keys: the forms of keys and tokens of services, and how people mention passwords, as data."""

from __future__ import annotations

DETECTORS = {
    "artifactory": "ArtifactoryDetector",
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "cloudant": "CloudantDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "ibm_cloud_iam": "IbmCloudIamDetector",
    "ibm_cos_hmac": "IbmCosHmacDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "private_key": "PrivateKeyDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "softlayer": "SoftlayerDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
BY_PREFIX = frozenset({"github_token", "gitlab_token"})
"""Detectors whose pattern has a group for the beginning of the token only."""
LOOKING_AROUND = {
    r"(?:(?<=\W)|(?<=^))": r"(?:\W|^)",
    r"(?!\w)": "",
    r"(?![a-zA-Z0-9_\-])": "",
    "(?![a-f0-9])": "",
    "1024}": "1000}",
}
"""Parts of detect-secrets patterns that RE2 does not know, and what replaces them. Tokens are extended to their end."""

# Forms of keys as the services publish them. A group marks the secret where the pattern matches more than that.
KEYS: dict[str, str] = {
    "anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "openai key": r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|\bsk-(?:or-v1-)?[A-Za-z0-9]{32,}",
    "google key": r"\bAIza[A-Za-z0-9_-]{35}|\bGOCSPX-[A-Za-z0-9_-]{20,}"
    r"|\bya29\.[A-Za-z0-9_-]{20,}|\b1//0[A-Za-z0-9_-]{30,}",
    "hugging face token": r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "github token": r"\bgithub_pat_[A-Za-z0-9_]{22,}",
    "aws secret": r"(?i)\b(?:aws[_ -]?)?secret[_ -]?(?:access[_ -]?)?key\b[\"']?\s*(?:=>"
    r"|:|=|is)\s*[\"']?([A-Za-z0-9/+]{40})"
    r"|\baws[_ -]?session[_ -]?token[\"']?\s*[=:]\s*[\"']?([A-Za-z0-9/+=]{60,})",
    "azure key": r"(?i)\b(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{20,}=*)|\bsig=([A-Za-z0-9%/+]{30,}=*)",
    "azure secret": r"\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    "databricks token": r"\bdapi[0-9a-f]{32}",
    "digitalocean token": r"\bdo[opr]_v1_[0-9a-f]{64}",
    "shopify token": r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}",
    "cloudflare token": r"(?i)cloudflare[^.!?\n]{0,30}?\b(?:token|key"
    r"|secret)\b[^.!?\n]{0,15}?\b([A-Za-z0-9_-]{37,40})\b"
    r"|\bv1\.0-[0-9a-f]{24}-[0-9a-f]{146}",
    "stripe key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{24,}",
    "slack token": r"\bxapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]+|\bxoxe[.-][A-Za-z0-9.-]{20,}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}",
    "service token": r"\b(?:gsk_|fw_|sb_secret_|vc[ptk]_|fm[12]_|rnd_|lin_oauth_|phx_|xkeysib-|pdu[sr]\+|r8_|glsa_"
    r"|sntry[su]_"
    r"|ntn_|lin_api_"
    r"|dckr_pat_|sbp_|figd_|nvapi-|pplx-|xai-|tvly-|PMAK-"
    r"|pscale_tkn_|ATATT3|hvs\.|dp\.(?:pt|ct|scim|st\.[a-z0-9_-]+)\."
    r"|rubygems_|NRAK-|SK-|pcsk_|lsv2_(?:pt|sk)_|HRKU-)[A-Za-z0-9_=-]{24,}"
    r"|\bsecret_[A-Za-z0-9]{43}\b|\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}|\bATBB[A-Za-z0-9]{28,}"
    r"|\bSSWS\s+([A-Za-z0-9_-]{30,})"
    r"|\bsk\.eyJ[A-Za-z0-9_-]{40,}(?:\.[A-Za-z0-9_-]+)?"
    r"|discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{24,})|\bkey-[0-9a-f]{32}\b",
    "age key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "bearer token": r"\b(?:[Bb]earer|BEARER)\s+([A-Za-z0-9._~+/=-]{16,})",
    "basic auth": r"(?i)\bauthorization[\"']?:\s*[\"']?basic\s+([A-Za-z0-9+/]{8,}=*)"
    r"|\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =][\"']?[^\s:\"']+:([^\s\"']{3,})|://:([^\s:/@\"']{3,})@",
    "private key": r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)"
    r"|PuTTY-User-Key-File-[0-9].*?(?:Private-MAC: *[0-9a-f]+|\z)",
}
# What programs are given, by patterns with gaps. They are searched one by one: with the others in one pattern, RE2
# would need so many states that it searches five times as slowly.
GIVEN: dict[str, str] = {
    "session cookie": r"(?i)\b(?:set-)?cookie[\"']?:\s*[^\n]{0,200}?"
    r"(?:sess|sid|auth|token|jwt)[\w.-]{0,20}=([^\s;,\"']{16,})",
    "basic auth": r"://[^\s:/@\"']{1,100}:([^\s:/@\"']{3,})@",
    "password": r"(?i)\bsshpass\s+-p\s*[\"']?([^\s\"']{3,})|\bmysql(?:dump|admin)?\b[^\n|;]{0,100}?\s-p([^\s\"']{3,})"
    r"|\bredis-cli\b[^\n|;]{0,100}?\s-a\s+[\"']?([^\s\"']{3,})"
    r"|\blogin\b[^\n|;]{0,100}?\s(?:-p|--password)[ =][\"']?([^\s\"'$]{3,})"
    r"|\s--(?:pass(?:word|wd)?|secret|token|api-key)[ =][\"']?([^\s\"'$<{[(]{6,})",
}
# For each language: the words for a password, and the words that come before its value.
IS = r"=|:|—|–|→|⇒|->|=>"
TOLD: dict[str, tuple[str, str]] = {
    "en": (
        r"\b(?:pass ?(?:word|phrase|code)|pwd|pw|pin(?: code| number)?|api[ _-]?key|secret key|access token)\b",
        r"\b(?:is|are|was|used to be)(?: now| still| always)?\b|['’]s\s",
    ),
    "de": (
        r"\b(?:passwort|kennwort|geheimzahl|zugangscode|pin|pw)\b",
        r"\b(?:ist|lautet|heißt|war)(?: jetzt| immer noch| noch)?\b",
    ),
    "fr": (r"\b(?:mot de passe|mdp|code secret|code pin)\b", r"\b(?:est|c['’]est)(?: toujours| maintenant)?\b"),
    "es": (
        r"\b(?:contraseña|clave secreta|mi clave|clave de acceso|clave del? (?:\w+ )?(?:wi-?fi|router|correo)"
        r"|mi pin)\b",
        r"\b(?:(?:ahora |todavía |aún )?es|sigue siendo)\b",
    ),
    "it": (
        r"\b(?:(?:la )?(?:mia|nostra|sua) password|la password|parola d['’]ordine|pin)\b",
        r"\bè(?: ora| ancora| sempre)?\b",
    ),
    "nl": (r"\b(?:wachtwoord|toegangscode|pincode)\b", r"\b(?:is|was|luidt)(?: nu)?\b"),
    "pl": (r"\bhasło\b", r"\b(?:to|jest)\b"),
    "ko": (r"(?:비밀번호|비번|암호)", r"는|은|이|가|\s"),
    "pt": (r"\b(?:minha senha|senha|palavra-passe|o pin)\b", r"\b(?:é|agora é|ainda é|continua a ser)\b"),
    "tr": (r"\b(?:şifre(?:m|miz|si)?|parola(?:m|miz|s[ıi]))\b", r"\s"),
    "uk": (r"\bпарол[ьюя]\b", r"це|\s"),
    "sv": (r"\blösenord(?:et)?\b", r"\bär(?: nu)?\b"),
    "cs": (r"\bheslo\b", r"\b(?:je|zní)\b"),
    "vi": (r"mật khẩu", r"là|\s"),
    "id": (r"\bkata sandi\b", r"\b(?:adalah|saya)\b|\s"),
    "ru": (r"(?:парол[ья]|пин-?код|кодовое слово)", r"это|является|теперь|\s"),
    "zh": (r"(?:密码|密碼|口令)", r"是|为|為|\s"),
    "ja": (r"(?:パスワード|暗証番号|合言葉)", r"は|が|\s"),
    "hi": (r"(?:पासवर्ड|कूटशब्द|पिन)", r"है|\s"),
    "bn": (r"(?:পাসওয়ার্ড|পিন)", r"হলো|হল|হচ্ছে|\s"),
    "ar": (r"(?:كلمة (?:المرور|السر|سر|مرور)ي?|الرقم السري)(?: الخاصة? بي)?", r"هي|هو|\s"),
    "ur": (r"(?:پاس ?ورڈ|پن کوڈ)", r"ہے|\s"),
}
FOR = (
    r"(?:\s+(?:for|to|of|on|für|zum|zur|von|vom|meine[rs]|unsere[rs]|pour|de|du|para|do|da|от|від|до|для|di|del"
    r"|della|dello"
    r"|van|voor)(?:\s+[\w'’-]+){1,4}?)?"
)
VALUE = r"([\"'“`«「]?)([!-~]{3,})"
AS = r"\s+(?:as|als|como|comme|come)\s+(?:[\w'’-]+\s+){0,2}?"
"""What stands between a password and its name: "use … as the password"."""
NO_COMPOUND = r"(?:\s*(?:[.,;:!?)\"'。！]|$)|\s+(?:for|on|of|to|für|zum|beim|pour|du|de|del|para|do|per|di|voor|van)\b)"
"""What may follow such a name, so that it is not a part of another one ("password manager")."""
