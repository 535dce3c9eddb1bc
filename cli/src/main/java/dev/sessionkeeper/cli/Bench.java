package dev.sessionkeeper.cli;

import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.client.ProblemException;
import dev.sessionkeeper.client.QueueClient;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Measures a running server over HTTP: how fast it accepts messages, and how fast they are leased
 * and completed.
 */
@Command(
    name = "bench",
    description = "Send and consume over HTTP and print the rates. Needs a running server.")
final class Bench implements Callable<Integer> {
  @Mixin Remote remote = new Remote();

  @Option(
      names = "--messages",
      defaultValue = "20000",
      description = "How many messages. Default: ${DEFAULT-VALUE}")
  int messages;

  @Option(
      names = "--sessions",
      defaultValue = "200",
      description = "How many sessions. Default: ${DEFAULT-VALUE}")
  int sessions;

  @Option(
      names = "--batch",
      defaultValue = "100",
      description = "Messages of one request. Default: ${DEFAULT-VALUE}")
  int batch;

  @Option(
      names = "--threads",
      defaultValue = "16",
      description = "How many threads send, and then consume. Default: ${DEFAULT-VALUE}")
  int threads;

  private final TimeSource time = TimeSource.system();

  @Override
  public Integer call() throws InterruptedException, ExecutionException {
    try (var client = remote.open()) {
      var name = "bench-" + Long.toString(time.instant().toEpochMilli(), 36);
      var queue = client.queue(name);
      queue.declare(QueueSettings.ordered());
      double sent;
      double consumed;
      try {
        sent = measure("sending", this::send, queue);
        consumed = measure("consuming", this::consume, queue);
      } finally {
        queue.delete();
      }
      var answer = JsonNodeFactory.instance.objectNode();
      answer.put("queue", name);
      answer.put("messages", messages);
      answer.put("sessions", sessions);
      answer.put("sentPerSecond", Math.round(sent));
      answer.put("consumedPerSecond", Math.round(consumed));
      remote.tell(
          answer,
          String.format(
              Locale.ROOT,
              "%,d messages over %,d sessions: sent %,.0f/s, leased and completed %,.0f/s.",
              messages,
              sessions,
              sent,
              consumed));
      return Exit.OK;
    }
  }

  /** The work of one thread, which reports its progress until all messages are done. */
  private interface Work {
    void run(QueueClient queue, AtomicLong next, IntConsumer did);
  }

  private double measure(String what, Work work, QueueClient queue)
      throws InterruptedException, ExecutionException {
    var progress = new ProgressBar(Terminal.standard(), time, what, messages);
    var next = new AtomicLong();
    var done = new AtomicLong();
    try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
      var running = new ArrayList<Future<?>>();
      for (int i = 0; i < threads; i++) {
        running.add(
            pool.submit(() -> work.run(queue, next, more -> progress.at(done.addAndGet(more)))));
      }
      for (var each : running) {
        each.get();
      }
    }
    return progress.ratePerSecond(messages);
  }

  private void send(QueueClient queue, AtomicLong next, IntConsumer did) {
    for (long from = next.getAndAdd(batch); from < messages; from = next.getAndAdd(batch)) {
      int size = (int) Math.min(batch, messages - from);
      var list = new ArrayList<QueueClient.Outgoing>(size);
      for (long i = from; i < from + size; i++) {
        list.add(QueueClient.Outgoing.text("bench/" + i % sessions, "message " + i));
      }
      queue.send(list);
      did.accept(size);
    }
  }

  private void consume(QueueClient queue, AtomicLong taken, IntConsumer did) {
    while (taken.get() < messages) {
      var lease = queue.acceptNext("bench", Duration.ofMillis(200));
      if (lease.isEmpty()) {
        continue;
      }
      var received = lease.get().receive(batch, Duration.ZERO);
      if (!received.isEmpty()) {
        lease.get().complete(received);
        taken.addAndGet(received.size());
        did.accept(received.size());
      }
      closeQuietly(lease.get());
    }
  }

  private static void closeQuietly(AutoCloseable lease) {
    try {
      lease.close();
    } catch (ProblemException e) {
      // The lease expired meanwhile, so the session is released already.
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
