package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import java.util.ArrayDeque;
import java.util.Deque;

/** Delivers messages in reverse order, so that the check must find a violation. */
final class BackwardsArm implements Arm {
  private final Deque<byte[]> stack = new ArrayDeque<>();

  @Override
  public Producer producer() {
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) {
        for (var body : bodies) {
          stack.push(body);
        }
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void consume(Load load) {
    stack.forEach(load::handle);
  }

  @Override
  public void stopConsuming() {}

  @Override
  public void close() {}
}
