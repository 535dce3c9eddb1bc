package dev.sessionkeeper.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lanes that are gone, but still registered to be looked at. They are taken out many at a time,
 * because all owners of a queue meet where that is done; a few that stay behind do no harm, since a
 * lane that is gone is looked at in vain.
 *
 * <p>Each thread mostly has a heap of its own, so here they do not meet either.
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

  /** Adds one; returns many of them, to be taken out, every now and then. */
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
