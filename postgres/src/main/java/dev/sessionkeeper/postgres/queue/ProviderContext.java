package dev.sessionkeeper.postgres.queue;

import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.time.TimeSource;
import org.slf4j.Logger;

/** Objects that the queues of one provider share. */
public record ProviderContext(
    Connections connections, Node node, TimeSource time, Notifications notifications, Logger log) {}
