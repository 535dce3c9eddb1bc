"""The servers of one store."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from ._http import Http, seg
from ._stream import StreamEvent, Subscription
from ._work import Handler, Worker


class KeeperClient:
    """Sends, works, subscribes. Safe for many threads. Decimals are ``decimal.Decimal``, never floats."""

    def __init__(
        self, servers: str | Sequence[str], credential: str | Callable[[], str] | None = None, patience: float = 30.0
    ):
        self._http = Http(servers, credential, patience)

    def declare_queue(self, queue: str, **settings: Any) -> dict[str, Any]:
        """Creates the queue, or changes its settings: ``mode="ORDERED"``, ``lockDuration="PT30S"``, …"""
        return self._http.json("PUT", f"/queues/{seg(queue)}", settings)

    def queue(self, queue: str) -> dict[str, Any]:
        return self._http.json("GET", f"/queues/{seg(queue)}")

    def send(self, queue: str, *messages: dict[str, Any]) -> list[dict[str, Any]]:
        """Sends messages in order, all or nothing. Ids are chosen once, so a repetition stores nothing twice."""
        body = {"messages": [{"messageId": str(uuid.uuid4()), **message} for message in messages]}
        return self._http.json("POST", f"/queues/{seg(queue)}/messages", body)["messages"]

    def work(self, queue: str, handler: Handler, **options: Any) -> Worker:
        """Handles the messages of a queue: sessions at once, the messages of each in order."""
        return Worker(self._http, queue, handler, **options)

    def publish(self, stream: str, *events: dict[str, Any]) -> list[dict[str, Any]]:
        """Publishes events in order, all or none; repeated under one key until a server answers."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        path = f"/streams/{seg(stream)}/events/batch"
        return self._http.json("POST", path, {"events": list(events)}, headers)["events"]

    def subscribe(
        self, stream: str, name: str, handler: Callable[[StreamEvent], Any], **options: Any
    ) -> Subscription:
        """Reads a stream as a named subscriber that acknowledges what it has handled."""
        return Subscription(self._http, stream, name, handler, **options)

    def stream_token(self, stream: str, subscriber: str | None = None, ttl: str = "PT5M") -> dict[str, Any]:
        """A short-lived token for one stream, for a browser."""
        path = f"/streams/{seg(stream)}/tokens"
        return self._http.json("POST", path, {"ttl": ttl}, params={"subscriber": subscriber})

    def put_session(self, user: str, tenant: str, capacity: str, kind: int) -> dict[str, Any]:
        """Registers a session, or finds the active one."""
        body = {"userObjectId": user, "tenantObjectId": tenant, "capacityId": capacity, "sessionKind": kind}
        return self._http.json("PUT", "/sessions", body)

    def session(self, id: str) -> dict[str, Any]:
        return self._http.json("GET", f"/sessions/{seg(id)}")

    def sessions(self, **filter: Any) -> dict[str, Any]:
        return self._http.json("GET", "/sessions", params=filter)

    def renew_session(self, id: str) -> dict[str, Any]:
        return self._http.json("POST", f"/sessions/{seg(id)}/renew")

    def end_session(self, id: str) -> dict[str, Any]:
        return self._http.json("DELETE", f"/sessions/{seg(id)}")

    def usages(self, **filter: Any) -> dict[str, Any]:
        return self._http.json("GET", "/usages", params=filter)

    def usage_batches(self, **filter: Any) -> dict[str, Any]:
        return self._http.json("GET", "/usages/batches", params=filter)

    def usage_proof(self, tenant: str | None = None) -> dict[str, Any]:
        return self._http.json("GET", "/usages/proof", params={"tenantObjectId": tenant})

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> KeeperClient:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
