"""Names whose values are masked in all output: password, token, key and similar."""

# SPDX-License-Identifier: MIT
import re
from typing import Final

MASKED: Final = "<masked>"
"""Printed instead of the value."""

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
"""Lower-case words and sequences of words ("session_id" is secret, "session" alone is not)."""

_SPLITS = (re.compile(r"[A-Z]+[a-z]*|[a-z]+"), re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"))
"""A name is split in both ways: "APIkey" gives one word by the first, "APIKey" two by the second."""


def is_secret(name: str) -> bool:
    """Whether a word of `name` is a secret word: "db_password", "apiKey", "CVV2"; not "monkey"."""
    spelt = [f"_{'_'.join(split.findall(name[:4096]))}_".lower() for split in _SPLITS]
    return any(f"_{word}_" in words for word in SECRET_WORDS for words in spelt)


def gives_secret(expression: str) -> bool:
    """Whether the value has a secret name: `db.password`, `env["TOKEN"]`, `tokens[0]`, `key()`.

    A variable used as an index (`rows[key]`) does not name the value.
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
    """Position of the bracket that the last character of `text` closes; 0 if there is none."""
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += (text[position] in ")]") - (text[position] in "([")
        if depth == 0:
            return position
    return 0
