package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.Cursors;
import dev.sessionkeeper.time.TimeSource;

/** What publishing and reading share. */
record Streams(
    StreamLog log,
    TailStreams tails,
    Cursors cursors,
    StreamMeters meters,
    StreamsConfig config,
    TimeSource time) {}
