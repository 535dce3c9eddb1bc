"""The worker: sessions at once, the messages of each in order."""

from __future__ import annotations

import base64
import logging
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from ._http import Http, seg

_log = logging.getLogger("sessionkeeper")


class RetryLater(Exception):
    """Raise it to have the message again after this time. Its session waits, so its order holds."""

    def __init__(self, delay: float, reason: str = ""):
        super().__init__(reason)
        self.delay = delay


class DeadLetter(Exception):
    """Raise it to set the message aside and let its session go on."""


@dataclass(frozen=True)
class Message:
    """One delivery."""

    id: str
    sequence: int
    attempt: int
    body: Any
    properties: dict[str, str]
    content_type: str

    @staticmethod
    def of(view: dict[str, Any]) -> Message:
        if "body" in view:
            body = view["body"]
        elif "bodyText" in view:
            body = view["bodyText"]
        else:
            body = base64.b64decode(view["bodyBase64"])
        return Message(
            view["messageId"], view["sequence"], view["attempt"], body, view["properties"], view["contentType"]
        )


@dataclass
class Session:
    """A session in hand. ``lost`` is set when the lease is gone: stop, the next owner gets the message."""

    id: str
    epoch: int
    lease_id: str
    messages: list[Message]
    state: bytes | None
    lost: threading.Event = field(default_factory=threading.Event)
    _before: bytes | None = None
    _renew_at: float = 0.0
    _renew_every: float = 10.0


Handler = Callable[[Message, Session], Any]


def usual_delay(attempt: int) -> float:
    """A second, doubling, at most a minute."""
    return min(60.0, 2.0 ** (attempt - 1))


class Worker:
    """Works on a queue until it is stopped.

    One thread polls for free places; finished sessions are settled by another one, in a round that also
    takes the next sessions. Every round has an id and is repeated, on any server, until it is answered: so
    a lost answer loses and doubles nothing.
    """

    def __init__(
        self,
        http: Http,
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
    ):
        self._http, self._queue, self._handler = http, queue, handler
        self._most, self._messages, self._wait, self._owner = sessions, messages, wait, owner
        self._with_state, self._retry_delay, self._on_error = state, retry_delay, on_error
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._held: dict[str, Session] = {}
        self._done: list[dict[str, Any]] = []
        self._polled = self._running = self._rounds = 0
        self._failure: BaseException | None = None
        self._pool = ThreadPoolExecutor(sessions, thread_name_prefix=f"work-{queue}")
        self._threads = [
            threading.Thread(target=self._guarded, args=(loop,), name=f"{loop.__name__}-{queue}", daemon=True)
            for loop in (self._poll, self._settle, self._renew)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Takes no new session, finishes the messages in hand, settles them and gives all leases back."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        self.join()

    def join(self) -> None:
        """Waits for the end; raises when the server has refused the worker for good."""
        for thread in self._threads:
            thread.join()
        self._pool.shutdown()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *unused: object) -> None:
        self.stop()

    def _guarded(self, loop: Callable[[], None]) -> None:
        try:
            loop()
        except BaseException as e:  # noqa: BLE001 - told by join()
            self._fail(e)

    def _fail(self, failure: BaseException) -> None:
        """Ends the worker. It is logged, because not every program waits with join()."""
        if self._failure is None:
            self._failure = failure
            _log.error("The worker of queue %s ends: %r", self._queue, failure)
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()

    def _poll(self) -> None:
        while not self._stopping.is_set():
            with self._changed:
                free = self._most - len(self._held)
                if free <= 0:
                    self._changed.wait(1.0)
                    continue
                self._polled = free
            # A poll is not cut off: when the worker stops, its answer is given back.
            answer = self._round(take=free, wait=self._wait)
            with self._changed:
                self._polled = 0
            self._begin(answer["sessions"])

    def _round(
        self, settle: list[dict[str, Any]] | None = None, renew: list[str] | None = None, take: int = 0, wait: float = 0
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"requestId": str(uuid.uuid4())}
        if self._owner:
            body["owner"] = self._owner
        if settle:
            body["settle"] = settle
        if renew:
            body["renew"] = renew
        if take > 0:
            body["take"] = {
                "sessions": take,
                "messages": self._messages,
                "wait": f"PT{wait:g}S",
                "state": self._with_state,
            }
        return self._http.json("POST", f"/queues/{seg(self._queue)}/work", body, forever=True)

    def _begin(self, sessions: list[dict[str, Any]]) -> None:
        with self._changed:
            for view in sessions:
                if self._stopping.is_set():
                    self._done.append({"leaseId": view["leaseId"], "then": "release"})
                    continue
                state = base64.b64decode(view["state"]) if "state" in view else None
                until = datetime.fromisoformat(view["lockedUntil"].replace("Z", "+00:00"))
                # A clock that is wrong makes renewals frequent, never late by more than a second.
                left = (until - datetime.now(timezone.utc)).total_seconds()
                every = min(10.0, max(1.0, left / 3))
                session = Session(
                    view["sessionId"],
                    view["epoch"],
                    view["leaseId"],
                    [Message.of(message) for message in view["messages"]],
                    state,
                    _before=state,
                    _renew_at=time.monotonic() + every,
                    _renew_every=every,
                )
                self._held[session.lease_id] = session
                self._running += 1
                self._pool.submit(self._handle, session)
            self._changed.notify_all()

    def _handle(self, session: Session) -> None:
        completed: list[int] = []
        settlements: list[dict[str, Any]] = []
        is_whole = len(session.messages) >= self._messages
        try:
            for message in session.messages:
                if session.lost.is_set():
                    return
                settlement = self._settlement(message, session)
                if settlement["action"] == "complete" and not settlements:
                    # The server completes these before it looks at the settlements, so the order holds.
                    completed.append(message.sequence)
                else:
                    settlements.append(settlement)
                if settlement["action"] == "retry" or self._stopping.is_set():
                    is_whole = False
                    break
        except BaseException as e:  # noqa: BLE001 - sys.exit() in a handler; told by join()
            # The message was not handled: nothing behind it may be, and its next owner begins with it.
            is_whole = False
            self._fail(e)
        finally:
            with self._changed:
                self._running -= 1
                if not session.lost.is_set():
                    entry: dict[str, Any] = {
                        "leaseId": session.lease_id,
                        "completed": completed,
                        "settlements": settlements,
                        "then": "next" if is_whole else "release",
                    }
                    if session.state is not None and session.state != session._before:
                        entry["state"] = base64.b64encode(session.state).decode()
                    self._done.append(entry)
                self._changed.notify_all()

    def _settlement(self, message: Message, session: Session) -> dict[str, Any]:
        try:
            self._handler(message, session)
            return {"sequence": message.sequence, "action": "complete"}
        except DeadLetter as e:
            reason = str(e) or "rejected by its receiver"
            return {"sequence": message.sequence, "action": "deadLetter", "reason": reason[:1000]}
        except Exception as e:  # noqa: BLE001 - the handler's failure becomes a retry
            delay = e.delay if isinstance(e, RetryLater) else self._tell(e, message, session)
            reason = (str(e) or type(e).__name__)[:1000]
            return {"sequence": message.sequence, "action": "retry", "delay": f"PT{delay:.3f}S", "reason": reason}

    def _tell(self, error: Exception, message: Message, session: Session) -> float:
        """Tells of a failure; returns the seconds until the next attempt."""
        try:
            delay = self._retry_delay(message.attempt)
            if self._on_error:
                self._on_error(error, message, session)
            else:
                text = "Message %s of session %s failed in attempt %d; it comes again in %.1f s"
                _log.warning(text, message.id, session.id, message.attempt, delay, exc_info=error)
            return delay
        except Exception as e:  # noqa: BLE001 - the failure of the message counts, not this one
            _log.warning("on_error or retry_delay failed: %r", e, exc_info=e)
            return usual_delay(message.attempt)

    def _settle(self) -> None:
        while True:
            with self._changed:
                while not self._done:
                    if self._is_drained():
                        return
                    self._changed.wait(0.5)
                batch, self._done = self._done[:256], self._done[256:]
                freed = sum(entry["then"] == "release" for entry in batch)
                places = self._most - len(self._held) - self._polled + freed
                take = 0 if self._stopping.is_set() else max(0, min(freed, places))
            answer = self._round(settle=batch, take=take)
            again = [
                entry for entry, settled in zip(batch, answer["settled"]) if settled["outcome"] == "unavailable"
            ]
            for entry, settled in zip(batch, answer["settled"]):
                if settled["outcome"] in ("lost", "outOfOrder", "staleState"):
                    session = self._held.get(entry["leaseId"])
                    text = "Settlements of session %s changed nothing (%s); its messages come again"
                    _log.warning(text, session.id if session else entry["leaseId"], settled["outcome"])
                    if settled["outcome"] != "lost":
                        again.append({"leaseId": entry["leaseId"], "then": "release"})
            with self._changed:
                for entry in batch:
                    self._held.pop(entry["leaseId"], None)
                self._done.extend(again)
                self._changed.notify_all()
            if again:
                time.sleep(0.5)
            self._begin(answer["sessions"])

    def _is_drained(self) -> bool:
        return self._stopping.is_set() and self._running == 0 and not self._threads[0].is_alive()

    def _renew(self) -> None:
        while not self._is_drained():
            time.sleep(0.25)
            now = time.monotonic()
            with self._changed:
                due = [session for session in self._held.values() if session._renew_at <= now]
                for session in due:
                    session._renew_at = now + session._renew_every
            if not due:
                continue
            answer = self._round(renew=[session.lease_id for session in due])
            with self._changed:
                for renewed in answer["renewed"]:
                    if not renewed["held"]:
                        session = self._held.pop(renewed["leaseId"], None)
                        if session is not None:
                            session.lost.set()
                self._changed.notify_all()
