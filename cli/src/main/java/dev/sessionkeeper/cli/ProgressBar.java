package dev.sessionkeeper.cli;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Locale;

/**
 * A progress bar with rate and remaining time on standard error, for work that takes longer than a
 * second.
 */
final class ProgressBar {
  private static final int WIDTH = 30;
  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final Duration FRAME = Duration.ofMillis(100);

  private final Terminal terminal;
  private final TimeSource time;
  private final String what;
  private final long total;
  private final long begun;
  private long lastDrawn;

  ProgressBar(Terminal terminal, TimeSource time, String what, long total) {
    this.terminal = terminal;
    this.time = time;
    this.what = what;
    this.total = total;
    this.begun = time.nanoTime();
    this.lastDrawn = begun;
  }

  synchronized void at(long done) {
    if (time.since(begun).compareTo(QUIET) < 0
        || (time.since(lastDrawn).compareTo(FRAME) < 0 && done < total)) {
      return;
    }
    lastDrawn = time.nanoTime();
    terminal.draw(line(done), false);
  }

  String line(long done) {
    double seconds = Math.max(1e-9, time.since(begun).toNanos() / 1e9);
    double rate = done / seconds;
    int full = (int) (WIDTH * done / Math.max(1, total));
    var left = rate > 0 ? Duration.ofSeconds((long) ((total - done) / rate)) : Duration.ZERO;
    return String.format(
        Locale.ROOT,
        "%s [%s%s] %,d of %,d, %,.0f/s, %d:%02d left",
        what,
        "=".repeat(full),
        " ".repeat(WIDTH - full),
        done,
        total,
        rate,
        left.toMinutes(),
        left.toSecondsPart());
  }

  double ratePerSecond(long done) {
    return done / Math.max(1e-9, time.since(begun).toNanos() / 1e9);
  }
}
