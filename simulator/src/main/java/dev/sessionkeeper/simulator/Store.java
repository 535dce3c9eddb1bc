package dev.sessionkeeper.simulator;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The modelled store with its clock, and its present faults. */
final class Store {
  private final World.Machine machine = new World.Machine("store");
  private final SimulatedTime time;
  private final QueueTables tables;
  private final Referee referee;
  private boolean isDown;
  private int lost;
  private World.@Nullable Machine lockedFor;

  Store(World world, QueueTables tables, Referee referee) {
    this.time = new SimulatedTime(world, machine, java.time.Duration.ZERO);
    this.tables = tables;
    this.referee = referee;
  }

  World.Machine machine() {
    return machine;
  }

  QueueTables tables() {
    return tables;
  }

  Referee referee() {
    return referee;
  }

  Instant now() {
    return time.instant();
  }

  boolean isDown() {
    return isDown;
  }

  void down(boolean down) {
    isDown = down;
  }

  /** Returns how many of a thousand answers get lost. */
  int lostAnswers() {
    return lost;
  }

  int lostRequests() {
    return lost / 2;
  }

  void loses(int perThousand) {
    lost = perThousand;
  }

  boolean isLockedByOther(World.Machine node) {
    var holder = lockedFor;
    return holder != null && !holder.equals(node) && !holder.isDead;
  }

  void lockFor(World.Machine node) {
    lockedFor = node;
  }

  void unlock(World.Machine node) {
    if (node.equals(lockedFor)) {
      lockedFor = null;
    }
  }
}
