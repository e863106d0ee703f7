"""Names whose values are masked wherever they would be shown: password, token, key and their kin."""

from __future__ import annotations

import re
from typing import Final

MASKED: Final = "<masked>"
"""What stands in place of the value."""

SECRET_WORDS: Final = (
    *("password", "passwords", "passwd", "passwds", "passphrase", "passphrases", "passcode", "passcodes"),
    *("pwd", "pwds", "pswd", "pw", "db_pass", "user_pass", "admin_pass", "root_pass", "smtp_pass"),
    *("secret", "secrets", "token", "tokens", "csrftoken", "bearer", "jwt", "jwts", "csrf", "xsrf"),
    *("auth", "oauth", "authorization", "authorisation", "credential", "credentials", "cred", "creds"),
    *("key", "apikey", "apikeys", "privkey", "keypair", "api_keys", "access_keys", "private_keys"),
    *("secret_keys", "ssh_keys", "signing_keys", "encryption_keys", "license_keys", "connection_string"),
    *("cookie", "cookies", "session_id", "session_ids", "sessionid", "jsessionid", "phpsessid", "sessid"),
    *("otp", "otps", "totp", "hotp", "pin", "pins", "pincode", "mfa_code", "sms_code", "security_code"),
    *("verification_code", "recovery_code", "recovery_codes", "backup_code", "backup_codes"),
    *("security_answer", "seed_phrase", "mnemonic", "ssn", "ssns", "social_security", "passport_number"),
    *("cvv", "cvvs", "cvc", "credit_card", "creditcard", "card_number", "card_numbers", "cardnumber"),
    *("iban", "ibans"),
)
"""Words, and words that follow one another ("session_id" is no secret word by halves), in lower case."""

_SPLITS = (re.compile(r"[A-Z]+[a-z]*|[a-z]+"), re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"))
"""The words of "APIkey" are one, those of "APIKey" two: a name is read both ways."""


def is_secret(name: str) -> bool:
    """Whether a word of `name` is a secret word: "db_password", "apiKey", "CVV2"; not "monkey"."""
    spelt = [f"_{'_'.join(split.findall(name[:4096]))}_".lower() for split in _SPLITS]
    return any(f"_{word}_" in words for word in SECRET_WORDS for words in spelt)


def gives_secret(expression: str) -> bool:
    """Whether what `expression` gives has a secret name: `db.password`, `env["TOKEN"]`, `tokens[0]`, `key()`.

    A variable that only picks (`rows[key]`) is no name of the value.
    """
    rest = expression[-4096:].rstrip()
    while rest.endswith(("]", ")")):
        start = _opening(rest)
        inside = rest[start + 1 : -1].strip()
        if rest.endswith("]") and inside[-1:] in ("'", '"') and inside:
            return is_secret(inside)
        rest = rest[:start].rstrip()
    return is_secret(rest.rpartition(".")[2])


def _opening(text: str) -> int:
    """Where the bracket that ends `text` opens; 0 where it does not."""
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += (text[position] in ")]") - (text[position] in "([")
        if depth == 0:
            return position
    return 0
