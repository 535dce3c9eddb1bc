"""A subscriber that writes down every event it has handled; frozen and killed by the test that started it."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from sessionkeeper import KeeperClient  # noqa: E402

history = os.open(os.environ["KEEPER_HISTORY"], os.O_WRONLY | os.O_APPEND)


def handle(event):
    os.write(history, f"{event.number}\n".encode())


keeper = KeeperClient(os.environ["KEEPER_SERVERS"].split(","))
keeper.subscribe(os.environ["KEEPER_STREAM"], "frozen", handle, from_="start", ack_every=10).join()
