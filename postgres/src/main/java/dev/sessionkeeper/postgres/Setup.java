package dev.sessionkeeper.postgres;

import dev.sessionkeeper.time.TimeSource;
import org.slf4j.Logger;

/** What the parts of a provider share. */
record Setup(
    Connections connections,
    Node node,
    TimeSource time,
    PostgresOptions options,
    Notifications notifications,
    BodyMemory memory,
    Logger log) {

  /** From the first one who waits on, this process listens. */
  void listen() {
    notifications.listen();
  }
}
