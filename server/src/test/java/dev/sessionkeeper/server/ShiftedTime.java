package dev.sessionkeeper.server;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** The machine's clock, which a test can move forward; timers that become due run at once. */
public final class ShiftedTime implements TimeSource {
  private final TimeSource system = TimeSource.system();
  private final AtomicReference<Duration> shift = new AtomicReference<>(Duration.ZERO);
  private final List<Pending> timers = new CopyOnWriteArrayList<>();

  private record Pending(Instant at, Runnable task) {}

  /** Moves the clock forward. */
  public void shift(Duration by) {
    shift.updateAndGet(before -> before.plus(by));
    for (var timer : timers) {
      if (!timer.at().isAfter(instant())) {
        timers.remove(timer);
        timer.task().run();
      }
    }
  }

  @Override
  public Instant instant() {
    return system.instant().plus(shift.get());
  }

  @Override
  public long nanoTime() {
    return system.nanoTime();
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var once = new AtomicBoolean();
    Runnable first =
        () -> {
          if (once.compareAndSet(false, true)) {
            task.run();
          }
        };
    var pending = new Pending(instant().plus(delay), first);
    timers.add(pending);
    var real = system.schedule(delay, first);
    return () -> {
      timers.remove(pending);
      real.cancel();
    };
  }
}
