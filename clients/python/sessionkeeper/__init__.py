"""Sessionkeeper over HTTP: send, work in order, streams, registry and usage."""

from ._client import KeeperClient
from ._http import ProblemError, UnreachableError
from ._stream import StreamEvent, Subscription
from ._webhook import InvalidWebhookError, verify_webhook
from ._work import DeadLetter, Message, RetryLater, Session, Worker

__all__ = [
    "DeadLetter",
    "InvalidWebhookError",
    "KeeperClient",
    "Message",
    "ProblemError",
    "RetryLater",
    "Session",
    "StreamEvent",
    "Subscription",
    "UnreachableError",
    "Worker",
    "verify_webhook",
]
