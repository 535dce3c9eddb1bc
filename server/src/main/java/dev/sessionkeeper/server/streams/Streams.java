package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.cursors.Cursors;
import dev.sessionkeeper.server.http.ReaderPlaces;
import dev.sessionkeeper.time.TimeSource;

/** The dependencies that publishing and reading share. */
record Streams(
    StreamLog log,
    TailStreams tails,
    Cursors cursors,
    StreamMeters meters,
    ReaderPlaces places,
    CurrentConfig current,
    TimeSource time) {

  /** Returns the current settings; a reload changes them. */
  StreamsConfig config() {
    return current.get();
  }
}
