"""Streams: events are acknowledged after they were handled, never before."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from ._http import Http, ProblemError, UnreachableError, backoff, parse, seg

_log = logging.getLogger("sessionkeeper")


@dataclass(frozen=True)
class StreamEvent:
    """An event. ``id`` is its number, or its publisher's own id."""

    id: str
    number: int
    event: str
    data: Any


class Subscription:
    """Reads a stream as a named subscriber. A handler that raises gets the same event again."""

    def __init__(
        self,
        http: Http,
        stream: str,
        name: str,
        handler: Callable[[StreamEvent], Any],
        *,
        from_: str = "end",
        ack_every: int = 100,
        on_gap: Callable[[dict[str, int]], Any] | None = None,
        on_error: Callable[[BaseException, StreamEvent], Any] | None = None,
    ):
        self._http, self._stream, self._name, self._handler = http, stream, name, handler
        self._from, self._ack_every, self._on_gap, self._on_error = from_, ack_every, on_gap, on_error
        self._stopping = threading.Event()
        self._last_id: str | None = None
        self._last_number = -1
        self._handled = self._acknowledged = 0
        self._acknowledging = threading.Lock()
        self._last_ack = time.monotonic()
        self._failure: BaseException | None = None
        self._response: httpx.Response | None = None
        self._thread = threading.Thread(target=self._guarded, name=f"subscribe-{stream}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finishes the event in hand, acknowledges it and ends."""
        self._stopping.set()
        self.join()

    def join(self) -> None:
        """Waits for the end; raises when the server has refused the subscription for good."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *unused: object) -> None:
        self.stop()

    def _path(self) -> str:
        return f"/streams/{seg(self._stream)}"

    def _guarded(self) -> None:
        try:
            self._run()
        except BaseException as e:  # noqa: BLE001 - told by join()
            self._failure = e
            # Logged, because not every program waits with join().
            _log.error("The subscription %s of stream %s ends: %r", self._name, self._stream, e)

    def _run(self) -> None:
        path = f"{self._path()}/subscribers/{seg(self._name)}"
        self._until_stopped("PUT", path, {"from": self._from})
        failures = 0
        while not self._stopping.is_set():
            try:
                failures = 0 if self._connect() else failures + 1
            except (httpx.TransportError, httpx.StreamError, UnreachableError):
                failures += 1
            if self._stopping.is_set():
                break
            self._http.next()
            self._stopping.wait(backoff(failures))
        self._acknowledge(self._for_a_while)

    def _until_stopped(self, method: str, path: str, body: dict[str, Any]) -> bool:
        """Repeats until a server answers; a server that is away for long ends no subscription."""
        try:
            self._http.json(method, path, body, stopped=self._stopping, forever=True)
            return True
        except (UnreachableError, ProblemError) as e:
            if not self._stopping.is_set() or (isinstance(e, ProblemError) and not e.is_transient):
                raise
            return False

    def _for_a_while(self, method: str, path: str, body: dict[str, Any]) -> bool:
        self._http.json(method, path, body)
        return True

    def _connect(self) -> bool:
        headers = {**self._http.headers(), "Accept": "text/event-stream"}
        if self._last_id is not None:
            headers["Last-Event-ID"] = self._last_id
        # Short reads let the loop look whether it has to stop, and acknowledge what was handled.
        timeout = httpx.Timeout(75.0, connect=5.0)
        params = {"subscriber": self._name, "ack": "explicit"}
        url = self._http.url(f"{self._path()}/events")
        with self._http.client.stream("GET", url, params=params, headers=headers, timeout=timeout) as response:
            if not response.is_success:
                response.read()
                problem = ProblemError.of(response)
                if not problem.is_transient:
                    raise problem
                return False
            closer = threading.Thread(target=self._watch, args=(response,), daemon=True)
            closer.start()
            try:
                return self._read(self._frames(response))
            finally:
                self._response = None

    def _watch(self, response: httpx.Response) -> None:
        """Hangs up when the subscription stops, and acknowledges in quiet times."""
        self._response = response
        while self._response is response:
            if self._stopping.wait(0.2):
                time.sleep(0.1)
                network = response.extensions.get("network_stream")
                sock = network.get_extra_info("socket") if network is not None else None
                if sock is not None and self._response is response:
                    try:
                        sock.shutdown(2)
                    except OSError:
                        pass  # The server was faster.
                return
            if self._handled > self._acknowledged and time.monotonic() - self._last_ack > 0.2:
                try:
                    self._acknowledge(self._for_a_while)
                except Exception:  # noqa: BLE001 - the next acknowledgement covers it
                    continue

    @staticmethod
    def _frames(response: httpx.Response) -> Iterator[dict[str, str]]:
        fields: dict[str, str] = {}
        rest = b""
        # Not iter_lines(): it also ends lines at characters that JSON allows within a text, such as U+2028.
        for part in response.iter_bytes():
            *lines, rest = (rest + part).split(b"\n")
            for raw in lines:
                line = raw.rstrip(b"\r").decode()
                if not line:
                    yield fields
                    fields = {}
                    continue
                name, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name:
                    fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value

    def _read(self, frames: Iterator[dict[str, str]]) -> bool:
        handled = False
        for fields in frames:
            if self._stopping.is_set():
                return handled
            if "data" not in fields or "id" not in fields:
                continue
            number = int(fields.get("number", fields["id"]))
            if fields.get("event") == "gap":
                if self._on_gap:
                    self._on_gap(parse(fields["data"]))
            elif number > self._last_number:
                event = StreamEvent(fields["id"], number, fields.get("event", "message"), parse(fields["data"]))
                try:
                    self._handler(event)
                except Exception as e:  # noqa: BLE001 - the event comes again
                    if self._on_error:
                        self._on_error(e, event)
                    else:
                        _log.warning("Event %s failed and comes again", event.id, exc_info=e)
                    return handled
            self._last_id, self._last_number = fields["id"], max(number, self._last_number)
            self._handled += 1
            handled = True
            if self._handled - self._acknowledged >= self._ack_every:
                self._acknowledge(self._until_stopped)
        return handled

    def _acknowledge(self, call: Callable[[str, str, dict[str, Any]], bool]) -> None:
        with self._acknowledging:
            handled, last_id = self._handled, self._last_id
            self._last_ack = time.monotonic()
            path = f"{self._path()}/subscribers/{seg(self._name)}/ack"
            if handled > self._acknowledged and last_id and call("POST", path, {"lastEventId": last_id}):
                self._acknowledged = handled
