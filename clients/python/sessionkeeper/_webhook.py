"""Verifies pushes by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping


class InvalidWebhookError(Exception):
    """Why a webhook was not believed."""


def verify_webhook(headers: Mapping[str, str], body: bytes, secret: str, tolerance: float = 300) -> None:
    """Raises unless one of the signatures is of this body and secret, and the request is young enough."""
    lower = {name.lower(): value for name, value in headers.items()}
    id_, timestamp = lower.get("webhook-id", ""), lower.get("webhook-timestamp", "")
    if not id_ or not timestamp.isdigit():
        raise InvalidWebhookError("The webhook headers are missing")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise InvalidWebhookError("The webhook is too old")
    key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    expected = hmac.new(key, f"{id_}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    for signature in lower.get("webhook-signature", "").split(" "):
        version, _, text = signature.partition(",")
        try:
            if version == "v1" and hmac.compare_digest(base64.b64decode(text, validate=True), expected):
                return
        except ValueError:
            continue
    raise InvalidWebhookError("No signature matches")
