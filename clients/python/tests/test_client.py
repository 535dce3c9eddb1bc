"""Against a live server: KEEPER_SERVERS names its addresses."""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import sys
import threading
import time
import unittest
import uuid
from decimal import Decimal

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from sessionkeeper import (  # noqa: E402
    DeadLetter,
    InvalidWebhookError,
    KeeperClient,
    ProblemError,
    verify_webhook,
)
from sessionkeeper._http import parse  # noqa: E402


def until(question, seconds=30):
    end = time.monotonic() + seconds
    while not question():
        if time.monotonic() > end:
            raise AssertionError("not in time")
        time.sleep(0.02)


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = KeeperClient(os.environ["KEEPER_SERVERS"].split(","))

    @classmethod
    def tearDownClass(cls):
        cls.keeper.close()

    def queue(self, **settings):
        name = f"py-{uuid.uuid4()}"
        self.keeper.declare_queue(name, mode="ORDERED", **settings)
        return name

    def test_messages_of_a_session_are_handled_in_order(self):
        queue = self.queue()
        for session in "ab":
            self.keeper.send(queue, *[{"sessionId": session, "body": n} for n in range(25)])
        seen, failures, lock = {"a": [], "b": []}, [], threading.Lock()

        def handle(message, session):
            if message.body == 7 and message.attempt < 3:
                failures.append(session.id)
                raise ValueError("on purpose")
            if message.body == 13:
                raise DeadLetter("unlucky")
            with lock:
                seen[session.id].append(message.body)

        with self.keeper.work(queue, handle, sessions=2, messages=4, wait=1, retry_delay=lambda n: 0.01):
            until(lambda: len(seen["a"]) + len(seen["b"]) == 48)
        expected = [n for n in range(25) if n != 13]
        self.assertEqual(seen, {"a": expected, "b": expected})
        self.assertEqual(len(failures), 4)
        numbers = self.keeper.queue(queue)
        self.assertEqual((numbers["depth"], numbers["dead"]), (0, 2))

    def test_a_slow_handler_keeps_its_lease_and_the_session_remembers(self):
        queue = self.queue(lockDuration="PT4S")
        self.keeper.send(queue, {"sessionId": "s", "body": 1}, {"sessionId": "s", "body": 2})
        seen = []

        def handle(message, session):
            time.sleep(6)
            self.assertFalse(session.lost.is_set())
            seen.append((message.body, message.attempt, session.state))
            session.state = f"after {message.body}".encode()

        with self.keeper.work(queue, handle, messages=1, state=True, wait=1):
            until(lambda: len(seen) == 2)
        self.assertEqual(seen, [(1, 1, None), (2, 1, b"after 1")])

    def test_stopping_gives_the_rest_back(self):
        queue = self.queue()
        self.keeper.send(queue, *[{"sessionId": "s", "body": n} for n in range(30)])
        handled = []

        def handle(message, session):
            time.sleep(0.03)
            handled.append(message.body)

        worker = self.keeper.work(queue, handle, wait=1)
        until(lambda: len(handled) >= 3)
        worker.stop()
        self.assertEqual(self.keeper.queue(queue)["depth"], 30 - len(handled))
        self.assertEqual(handled, list(range(len(handled))))

    def test_a_subscriber_acknowledges_what_it_has_handled(self):
        stream = f"py-{uuid.uuid4()}"
        self.keeper.publish(stream, {"data": 1}, {"eventId": "evt_2", "data": 2}, {"data": 3})
        seen, failed = [], []

        def handle(event):
            if event.data == 2 and not failed:
                failed.append(event)
                raise ValueError("on purpose")
            seen.append((event.id, event.data))

        with self.keeper.subscribe(stream, "ann", handle, from_="start"):
            until(lambda: len(seen) == 3)
        self.assertEqual(seen, [("1", 1), ("evt_2", 2), ("3", 3)])
        self.keeper.publish(stream, {"data": 4})
        with self.keeper.subscribe(stream, "ann", handle):
            until(lambda: len(seen) == 4)
        self.assertEqual(seen[3], ("4", 4))

    def test_bodies_arrive_as_they_were_sent(self):
        queue = self.queue()
        body = {"price": Decimal("1.10"), "big": 12345678901234567890, "text": "1.10", "none": None, "list": [True]}
        self.keeper.send(queue, {"sessionId": "s", "body": body})
        seen = []
        with self.keeper.work(queue, lambda message, session: seen.append(message.body), wait=1):
            until(lambda: seen)
        self.assertEqual(seen, [body])
        self.assertEqual(str(seen[0]["price"]), "1.10")

    def test_a_failure_of_a_handler_is_told(self):
        queue = self.queue()
        self.keeper.send(queue, {"sessionId": "s", "body": 1})

        def handle(message, session):
            if message.attempt == 1:
                raise ValueError("on purpose")

        with self.assertLogs("sessionkeeper", "WARNING") as logs:
            with self.keeper.work(queue, handle, wait=1, retry_delay=lambda n: 0.01):
                until(lambda: self.keeper.queue(queue)["depth"] == 0)
        self.assertIn("ValueError: on purpose", logs.output[0])

    def test_a_handler_that_exits_ends_the_worker_and_its_message_is_handled_first(self):
        queue = self.queue()
        self.keeper.send(queue, *[{"sessionId": "s", "body": n} for n in range(8)])
        seen = []

        def exits(message, session):
            if message.body == 2:
                sys.exit("the ledger is not configured")
            seen.append(message.body)

        worker = self.keeper.work(queue, exits, messages=4, wait=1)
        with self.assertLogs("sessionkeeper", "ERROR"), self.assertRaises(SystemExit):
            worker.join()
        self.assertEqual(seen, [0, 1])
        with self.keeper.work(queue, lambda message, session: seen.append(message.body), wait=1):
            until(lambda: len(seen) == 8)
        self.assertEqual(seen, list(range(8)))

    def test_an_error_of_on_error_costs_no_order(self):
        queue = self.queue()
        self.keeper.send(queue, *[{"sessionId": "s", "body": n} for n in range(8)])
        seen = []

        def fails_once(message, session):
            if message.body == 2 and message.attempt == 1:
                raise ValueError("on purpose")
            seen.append(message.body)

        def breaks(error, message, session):
            raise TypeError("on_error is broken")

        with self.assertLogs("sessionkeeper", "WARNING") as logs:
            options = {"messages": 4, "wait": 1, "retry_delay": lambda n: 0.01, "on_error": breaks}
            with self.keeper.work(queue, fails_once, **options):
                until(lambda: len(seen) == 8)
        self.assertEqual(seen, list(range(8)))
        self.assertIn("on_error is broken", str(logs.output))

    def test_a_worker_that_the_server_refuses_says_so(self):
        with self.assertLogs("sessionkeeper", "ERROR") as logs:
            worker = self.keeper.work("nobody-declared-it", lambda message, session: None)
            with self.assertRaises(ProblemError) as refused:
                worker.join()
        self.assertEqual(refused.exception.type, "unknown-queue")
        self.assertIn("nobody-declared-it", logs.output[0])

    def test_events_with_unusual_line_ends_arrive_whole(self):
        stream = f"py-{uuid.uuid4()}"
        text = "a\u2028b\u2029c\u0085d\re\nf"
        body = f'{{"events":[{{"data":"{text[:6]}"}},{{"data":{json.dumps(text)}}}]}}'.encode()
        self.keeper._http.client.post(
            self.keeper._http.url(f"/streams/{stream}/events/batch"),
            content=body,
            headers={"Content-Type": "application/json"},
        ).raise_for_status()
        seen = []
        with self.keeper.subscribe(stream, "ann", lambda event: seen.append(event.data), from_="start"):
            until(lambda: len(seen) == 2)
        self.assertEqual(seen, [text[:6], text])

    def test_refusals_are_typed(self):
        with self.assertRaises(ProblemError) as caught:
            self.keeper.queue("none-of-that-name")
        self.assertEqual(caught.exception.type, "unknown-queue")
        with self.assertRaises(ProblemError) as caught:
            self.keeper.declare_queue("bad", mode="SIDEWAYS")
        self.assertEqual(caught.exception.errors[0]["field"], "mode")

    def test_the_registry_and_exact_decimals(self):
        user, tenant, capacity = (str(uuid.uuid4()) for _ in range(3))
        created = self.keeper.put_session(user, tenant, capacity, 1)
        self.assertEqual(created["status"], "created")
        self.assertEqual(self.keeper.put_session(user, tenant, capacity, 1)["status"], "existing")
        self.assertFalse(self.keeper.end_session(created["sessionId"])["isActive"])
        self.assertEqual(self.keeper.usages(tenantObjectId=tenant)["usages"], [])
        self.assertEqual(parse('{"usage":0.1}')["usage"] * 3, Decimal("0.3"))

    def test_webhooks_are_believed_by_their_signature_only(self):
        key = b"a secret of some length"
        secret = "whsec_" + base64.b64encode(key).decode()
        now = str(int(time.time()))
        mac = base64.b64encode(hmac.new(key, f"m.{now}.{{}}".encode(), hashlib.sha256).digest()).decode()
        headers = {"Webhook-Id": "m", "webhook-timestamp": now, "webhook-signature": f"v1,AAAA v1,{mac}"}
        verify_webhook(headers, b"{}", secret)
        for bad in ({"webhook-timestamp": "1"}, {"webhook-signature": "v1,AAAA"}):
            with self.assertRaises(InvalidWebhookError):
                verify_webhook({**headers, **bad}, b"{}", secret)
        with self.assertRaises(InvalidWebhookError):
            verify_webhook(headers, b"{ }", secret)


if __name__ == "__main__":
    unittest.main()
