"""Requests: to the next server when one fails, with the same body, until one answers."""

from __future__ import annotations

import json
import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import httpx


class ProblemError(Exception):
    """A refusal of the server. Branch on ``type``, never on the texts."""

    def __init__(self, type: str, status: int, detail: str, document: dict[str, Any]):
        super().__init__(f"{type} ({status}): {detail}")
        self.type = type
        self.status = status
        self.detail = detail
        self.document = document

    @property
    def errors(self) -> list[dict[str, str]]:
        """Every field that is wrong."""
        return self.document.get("errors", [])

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later, or on another server."""
        return self.status >= 500 or self.status in (408, 421, 429)

    @staticmethod
    def of(response: httpx.Response) -> ProblemError:
        try:
            document = json.loads(response.text)
            slug = str(document.get("type", "unknown")).rsplit("/", 1)[-1]
            return ProblemError(slug, response.status_code, str(document.get("detail", "")), document)
        except ValueError:
            return ProblemError("unknown", response.status_code, response.text[:200], {})


class UnreachableError(Exception):
    """No server answered. The request may or may not have taken effect."""


def parse(text: str) -> Any:
    """Parses JSON without loss: numbers with a fraction become ``Decimal``."""
    return json.loads(text, parse_float=Decimal) if text else None


def dump(value: Any) -> str:
    """Writes JSON without loss: a ``Decimal`` becomes a number with all its digits."""
    marker, numbers = uuid.uuid4().hex, []

    def other(item: Any) -> str:
        if not isinstance(item, Decimal):
            return str(item)
        if not item.is_finite():
            raise ValueError(f"JSON has no number {item}")
        numbers.append(str(item))
        return f"{marker}{len(numbers) - 1}"

    return re.sub(f'"{marker}(\\d+)"', lambda found: numbers[int(found[1])], json.dumps(value, default=other))


def seg(text: str) -> str:
    return quote(text, safe="")


def backoff(failures: int) -> float:
    """Jittered exponential backoff in seconds, at most five."""
    return min(5.0, 0.05 * 2 ** min(failures, 10)) * (0.5 + random.random() / 2)


class Http:
    """Safe for many threads."""

    def __init__(
        self,
        servers: str | Sequence[str],
        credential: str | Callable[[], str] | None = None,
        patience: float = 30.0,
    ):
        self._servers = [servers] if isinstance(servers, str) else list(servers)
        if not self._servers:
            raise ValueError("servers must name at least one address")
        self._servers = [server.rstrip("/") for server in self._servers]
        self._credential = credential
        self._patience = patience
        self._turn = random.randrange(len(self._servers))
        # A request waits up to 60 seconds for work; the answer comes within this time.
        timeout = httpx.Timeout(75.0, connect=5.0)
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=20)
        self._client = httpx.Client(timeout=timeout, limits=limits)

    def url(self, path: str) -> str:
        return self._servers[self._turn % len(self._servers)] + path

    def headers(self) -> dict[str, str]:
        secret = self._credential() if callable(self._credential) else self._credential
        return {"Authorization": f"Bearer {secret}"} if secret else {}

    def next(self) -> None:
        """The next request goes to another server."""
        self._turn += 1

    @property
    def client(self) -> httpx.Client:
        return self._client

    def json(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        params: dict[str, Any] | None = None,
        stopped: threading.Event | None = None,
        forever: bool = False,
    ) -> Any:
        """The answer as Python values. Repeats until a server answers: only for calls that may be repeated."""
        start = time.monotonic()
        given = {name: value for name, value in (params or {}).items() if value is not None}
        content = None if body is None else dump(body).encode()
        failures = 0
        while True:
            try:
                response = self._client.request(
                    method,
                    self.url(path),
                    content=content,
                    params=given,
                    headers={
                        **self.headers(),
                        **({"Content-Type": "application/json"} if content is not None else {}),
                        **(headers or {}),
                    },
                )
                if response.is_success:
                    return parse(response.text)
                problem = ProblemError.of(response)
                if not problem.is_transient:
                    raise problem
                failure: Exception = problem
            except httpx.TransportError as e:
                failure = UnreachableError(f"{method} {path}: {e!r}")
            self.next()
            if not forever and time.monotonic() - start > self._patience:
                raise failure
            pause = backoff(failures)
            failures += 1
            if stopped is None:
                time.sleep(pause)
            elif stopped.wait(pause):
                raise failure

    def close(self) -> None:
        self._client.close()
