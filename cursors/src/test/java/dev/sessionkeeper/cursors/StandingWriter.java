package dev.sessionkeeper.cursors;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.LastValueStore;
import dev.sessionkeeper.coalescing.MemoryLastValueStore;
import dev.sessionkeeper.coalescing.WhenFull;
import dev.sessionkeeper.coalescing.WriterOptions;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** A writer for five values on a clock that the test moves, over a store that can be down. */
final class StandingWriter {
  final SettableClock clock = SettableClock.create();
  final Store store = new Store();
  final CoalescingWriter<String, String> writer =
      CoalescingWriter.builder(store)
          .options(
              WriterOptions.ofDefaults()
                  .withStripes(1)
                  .withLinger(Duration.ofMillis(5), Duration.ofMillis(50))
                  .withRoomFor(5, 1 << 20)
                  .withWhenFull(new WhenFull.Reject()))
          .time(clock)
          .random(new Random(1))
          .executor(Runnable::run)
          .build();

  void submit(String key, long version) {
    var unused = writer.submit(key, version, key);
  }

  void advance(long millis) {
    clock.advance(Duration.ofMillis(millis));
  }

  /** A store in memory that counts writes and refuses them while it is down. */
  static final class Store implements LastValueStore<String, String> {
    private final MemoryLastValueStore<String, String> values = MemoryLastValueStore.create();
    volatile boolean down;
    volatile int writes;

    long stored(String key) {
      return read(key).map(Entry::version).orElse(0L);
    }

    @Override
    public List<Result> write(List<Entry<String, String>> entries) {
      if (down) {
        throw new KeeperException.Unavailable("the store");
      }
      writes++;
      return values.write(entries);
    }

    @Override
    public void setAside(Entry<String, String> entry, String cause) {
      values.setAside(entry, cause);
    }

    @Override
    public Optional<Entry<String, String>> read(String key) {
      return values.read(key);
    }
  }
}
