package dev.sessionkeeper.server.samples;

import java.util.Map;

/** Reads the numbers of all queues at once. */
@FunctionalInterface
interface ReadNumbers {
  Map<String, Sample.Numbers> read();
}
