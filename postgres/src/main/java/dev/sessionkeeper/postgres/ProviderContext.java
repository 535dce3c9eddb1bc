package dev.sessionkeeper.postgres;

import dev.sessionkeeper.time.TimeSource;
import org.slf4j.Logger;

/** What the queues of one provider share. */
record ProviderContext(
    Connections connections,
    Node node,
    TimeSource time,
    Notifications notifications,
    Logger log) {}
