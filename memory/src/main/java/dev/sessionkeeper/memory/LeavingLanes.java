package dev.sessionkeeper.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lanes that are gone but still registered for a check. They are removed in large batches, because
 * all owners of a queue contend for the registry's lock; a few that remain do no harm, because the
 * check of a lane that is gone does nothing.
 *
 * <p>Threads are spread over several heaps, so they rarely contend here either.
 */
final class LeavingLanes {
  private static final int HEAPS = 8;
  private static final int MANY = 16;

  private final List<Heap> heaps = new ArrayList<>();

  LeavingLanes() {
    for (int i = 0; i < HEAPS; i++) {
      heaps.add(new Heap());
    }
  }

  /** Adds one lane; now and then returns a batch of lanes to remove. */
  List<Lane> add(Lane lane) {
    return heaps.get((int) Thread.currentThread().threadId() & (HEAPS - 1)).add(lane);
  }

  private static final class Heap {
    private final ReentrantLock lock = new ReentrantLock();
    private List<Lane> lanes = new ArrayList<>(MANY);

    private List<Lane> add(Lane lane) {
      lock.lock();
      try {
        lanes.add(lane);
        if (lanes.size() < MANY) {
          return List.of();
        }
        var many = lanes;
        lanes = new ArrayList<>(MANY);
        return many;
      } finally {
        lock.unlock();
      }
    }
  }
}
