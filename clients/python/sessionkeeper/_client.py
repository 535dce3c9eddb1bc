"""The servers of one store."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from ._http import Http, seg
from ._stream import StreamEvent, Subscription
from ._work import Handler, Message, Session, Worker, usual_delay


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

    def work(
        self,
        queue: str,
        handler: Handler,
        *,
        sessions: int = 16,
        messages: int = 10,
        wait: float = 2.0,
        owner: str | None = None,
        state: bool = False,
        retry_delay: Callable[[int], float] = usual_delay,
        on_error: Callable[[BaseException, Message, Session], Any] | None = None,
    ) -> Worker:
        """Handles the messages of a queue: up to ``sessions`` at once, the messages of each in order.

        ``wait``: seconds that a poll waits for work. ``state``: whether to read the memory of sessions.
        ``retry_delay``: seconds until the next attempt. ``on_error``: gets exceptions that become retries;
        the logger ``sessionkeeper`` gets them by default.
        """
        return Worker(
            self._http,
            queue,
            handler,
            sessions=sessions,
            messages=messages,
            wait=wait,
            owner=owner,
            state=state,
            retry_delay=retry_delay,
            on_error=on_error,
        )

    def publish(self, stream: str, *events: dict[str, Any]) -> list[dict[str, Any]]:
        """Publishes events in order, all or none; repeated under one key until a server answers."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        path = f"/streams/{seg(stream)}/events/batch"
        return self._http.json("POST", path, {"events": list(events)}, headers)["events"]

    def subscribe(
        self,
        stream: str,
        name: str,
        handler: Callable[[StreamEvent], Any],
        *,
        from_: str = "end",
        ack_every: int = 100,
        on_gap: Callable[[dict[str, int]], Any] | None = None,
        on_error: Callable[[BaseException, StreamEvent], Any] | None = None,
    ) -> Subscription:
        """Reads a stream as a named subscriber that acknowledges what it has handled.

        ``from_``: where a new subscriber begins: ``start``, ``end`` or an event id. ``on_gap``: gets the bounds
        of events that retention removed. ``on_error``: gets exceptions of the handler; the event comes again.
        """
        return Subscription(
            self._http, stream, name, handler, from_=from_, ack_every=ack_every, on_gap=on_gap, on_error=on_error
        )

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
