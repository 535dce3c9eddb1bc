package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import java.util.ArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Makes single sends with 16 threads at a fixed rate; a message's delay begins with its send. */
record SendAtPace(Peer.Pace pace) {
  private static final int SENDERS = 16;

  Peer.Delays run(Arm arm) throws Exception {
    var load = new Load(pace.keys(), SENDERS);
    arm.consume(load);
    long end = System.nanoTime() + pace.window().toNanos();
    var failure = new AtomicReference<Exception>();
    var senders = new ArrayList<Thread>();
    for (int i = 0; i < SENDERS; i++) {
      int producer = i;
      senders.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      send(arm, load, producer, end);
                    } catch (Exception e) {
                      failure.set(e);
                    }
                  }));
    }
    Thread.sleep(pace.window().dividedBy(2));
    load.latencies.clear();
    long before = load.handled();
    long from = System.nanoTime();
    LockSupport.parkNanos(end - from);
    double reached = (load.handled() - before) / ((System.nanoTime() - from) / 1e9);
    for (var sender : senders) {
      sender.join();
    }
    Thread.sleep(500);
    // Before the end, because a consumer that ends may pass its last messages to another one.
    var delays =
        new Peer.Delays(
            reached, load.latencies.millis(0.5), load.latencies.millis(0.99), load.violations());
    arm.stopConsuming();
    if (failure.get() != null) {
      throw failure.get();
    }
    return delays;
  }

  private void send(Arm arm, Load load, int producer, long end) throws Exception {
    long every = (long) (1e9 * SENDERS / pace.perSecond());
    try (var sender = arm.producer()) {
      long next = System.nanoTime() + ThreadLocalRandom.current().nextLong(every);
      while (next < end) {
        LockSupport.parkNanos(next - System.nanoTime());
        if (System.nanoTime() > end) {
          return;
        }
        int key = ThreadLocalRandom.current().nextInt(pace.keys());
        sender.send(new int[] {key}, new byte[][] {load.next(producer, key)});
        load.addSent(1);
        next += every;
      }
    }
  }
}
