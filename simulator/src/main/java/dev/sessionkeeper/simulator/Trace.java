package dev.sessionkeeper.simulator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The events of a run, line by line, and a hash of them. */
final class Trace {
  private final boolean isKept;
  private final List<String> lines = new ArrayList<>();
  private long fingerprint = 17;

  Trace(boolean isKept) {
    this.isKept = isKept;
  }

  void add(long nanos, String who, String what) {
    fingerprint = 31 * (31 * (31 * fingerprint + nanos) + who.hashCode()) + what.hashCode();
    if (isKept) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%10.3f ms  %-8s %s",
              Duration.ofNanos(nanos).toNanos() / 1e6,
              who,
              what));
    }
  }

  List<String> lines() {
    return List.copyOf(lines);
  }

  String fingerprint() {
    return Long.toHexString(fingerprint);
  }
}
