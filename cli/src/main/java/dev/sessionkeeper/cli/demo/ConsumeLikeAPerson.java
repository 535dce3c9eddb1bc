package dev.sessionkeeper.cli.demo;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.LeaseClient;
import dev.sessionkeeper.client.ProblemException;
import dev.sessionkeeper.client.QueueClient;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A consumer that accepts sessions, works, and sometimes fails. */
final class ConsumeLikeAPerson implements Runnable {
  private static final double FAILS = 0.08;

  private final QueueClient queue;
  private final String name;
  private final BooleanSupplier stop;
  private final Consumer<Handled> report;
  private final Random random;

  ConsumeLikeAPerson(
      QueueClient queue, String name, BooleanSupplier stop, Consumer<Handled> report) {
    this.queue = queue;
    this.name = name;
    this.stop = stop;
    this.report = report;
    this.random = new Random(name.hashCode());
  }

  @Override
  public void run() {
    while (!stop.getAsBoolean()) {
      try {
        queue.acceptNext(name, Duration.ofSeconds(1)).ifPresent(this::serve);
      } catch (ProblemException | KeeperException e) {
        // The server may be busy or starting; the next round tries again.
        pause(200);
      }
    }
  }

  private void serve(LeaseClient lease) {
    try {
      for (int round = 0; round < 3 && !stop.getAsBoolean(); round++) {
        var messages = lease.receive(5, Duration.ZERO);
        if (messages.isEmpty() || !allHandled(lease, messages)) {
          break;
        }
      }
      lease.close();
    } catch (ProblemException e) {
      if (!e.is("session-lock-lost")) {
        throw e;
      }
    }
  }

  private boolean allHandled(LeaseClient lease, List<LeaseClient.Received> messages) {
    for (var message : messages) {
      pause(random.nextInt(12));
      int index = Integer.parseInt(message.body().asString());
      if (random.nextDouble() < FAILS && message.attempt() < 4) {
        tell(lease, index, Handled.Step.FAILED);
        lease.retry(message, Duration.ofMillis(300), "the demo fails on purpose");
        return false;
      }
      tell(lease, index, Handled.Step.COMPLETING);
      lease.complete(List.of(message));
      tell(lease, index, Handled.Step.COMPLETED);
    }
    return true;
  }

  private void tell(LeaseClient lease, int index, Handled.Step step) {
    report.accept(new Handled(name, lease.sessionId(), index, lease.epoch(), step));
  }

  private static void pause(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
