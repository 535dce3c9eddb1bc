package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Stores a backlog from several threads. Each thread takes the keys in turn, so a batch has each
 * key at most once if it has no more messages than there are keys. Peers without an order within a
 * batch need that.
 */
record Fill(int threads, int batch) {

  /** Returns the duration in seconds. */
  double run(Arm arm, Load load, Peer.Backlog backlog) throws Exception {
    long began = System.nanoTime();
    long end = began + backlog.cap().toNanos();
    var failure = new AtomicReference<Exception>();
    var senders = new ArrayList<Thread>();
    for (int i = 0; i < threads; i++) {
      int producer = i;
      senders.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      send(arm, load, producer, backlog, end);
                    } catch (Exception e) {
                      failure.set(e);
                    }
                  }));
    }
    for (var sender : senders) {
      sender.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
    return (System.nanoTime() - began) / 1e9;
  }

  private void send(Arm arm, Load load, int producer, Peer.Backlog backlog, long end)
      throws Exception {
    int share = backlog.messages() / threads;
    try (var sender = arm.producer()) {
      for (int done = 0; done < share && System.nanoTime() < end; done += batch) {
        int size = Math.min(batch, share - done);
        var keys = new int[size];
        var bodies = new byte[size][];
        for (int i = 0; i < size; i++) {
          keys[i] = (done + i) % backlog.keys();
          bodies[i] = load.next(producer, keys[i]);
        }
        sender.send(keys, bodies);
        load.addSent(size);
      }
    }
  }
}
