package dev.sessionkeeper.benchmarks;

import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** A common solution: the key's hash picks one of 16 single-thread executors. */
final class StripedExecutorsArm implements Arm {
  private static final int STRIPES = 16;

  @Override
  public String name() {
    return "16 striped executors";
  }

  @Override
  public Took run(Load load) {
    var counted = new LongAdder();
    var stripes = new ArrayList<ExecutorService>();
    for (int i = 0; i < STRIPES; i++) {
      stripes.add(Executors.newSingleThreadExecutor());
    }
    var keys = new String[load.sessions()];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = "session-" + i;
    }
    System.gc();
    var started = Took.now();
    for (int i = 0; i < load.messages(); i++) {
      var key = keys[i % keys.length];
      stripes.get(Math.floorMod(key.hashCode(), STRIPES)).execute(counted::increment);
    }
    while (counted.sum() < load.messages()) {
      LockSupport.parkNanos(200_000);
    }
    var took = started.since();
    stripes.forEach(ExecutorService::close);
    return took;
  }
}
