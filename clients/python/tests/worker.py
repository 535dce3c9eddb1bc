"""A worker that writes down what its handlers see; killed at any moment by the run that started it."""

import json
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from sessionkeeper import KeeperClient, RetryLater  # noqa: E402

history = os.open(os.environ["KEEPER_HISTORY"], os.O_WRONLY | os.O_APPEND)
name = os.environ["KEEPER_WORKER"]


def write(kind, message, session, **more):
    entry = {"kind": kind, "worker": name, "session": session.id, "epoch": session.epoch, "id": message.id}
    entry.update(sequence=message.sequence, attempt=message.attempt, **more)
    os.write(history, (json.dumps(entry) + "\n").encode())


def handle(message, session):
    write("started", message, session)
    time.sleep(random.random() / 25)
    completed = random.random() > 0.03
    write("ended", message, session, completed=completed)
    if session.lost.is_set():
        write("lost", message, session)
    if not completed:
        raise RetryLater(0.02, "on purpose")


keeper = KeeperClient(os.environ["KEEPER_SERVERS"].split(","))
keeper.work(os.environ["KEEPER_QUEUE"], handle, owner=name, wait=2.0).join()
