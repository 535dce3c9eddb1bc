package dev.sessionkeeper.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Sessions that are gone but still registered for a check. They are removed in large batches,
 * because all owners of a queue contend for the registry's lock; a few that remain do no harm,
 * because the check of a session that is gone does nothing.
 *
 * <p>Threads are spread over several heaps, so they rarely contend here either.
 */
final class LeavingEntries {
  private static final int HEAPS = 8;
  private static final int MANY = 16;

  private final List<Heap> heaps = new ArrayList<>();

  LeavingEntries() {
    for (int i = 0; i < HEAPS; i++) {
      heaps.add(new Heap());
    }
  }

  /**
   * Adds one session. Returns a batch of sessions to remove if enough have gathered, otherwise an
   * empty list.
   */
  List<SessionEntry> add(SessionEntry entry) {
    return heaps.get((int) Thread.currentThread().threadId() & (HEAPS - 1)).add(entry);
  }

  private static final class Heap {
    private final ReentrantLock lock = new ReentrantLock();
    private List<SessionEntry> entries = new ArrayList<>(MANY);

    private List<SessionEntry> add(SessionEntry entry) {
      lock.lock();
      try {
        entries.add(entry);
        if (entries.size() < MANY) {
          return List.of();
        }
        var many = entries;
        entries = new ArrayList<>(MANY);
        return many;
      } finally {
        lock.unlock();
      }
    }
  }
}
