package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;

/** A thousand producers in four processes send to one session at the same time. */
final class ThousandProducers {
  private static final int PROCESSES = 4;
  private static final int PRODUCERS = 250;
  private static final int EACH = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final Duration STEP = Duration.ofMillis(50);
  private static final QueueName QUEUE = QueueName.of("one-key");
  private static final SessionId SESSION = SessionId.of("the-key");
  private static final String NUMBER = "KEEPER_PRODUCER_PROCESS";

  private ThousandProducers() {}

  /** A process with a quarter of the producers. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
      int process = Integer.parseInt(ChildProcess.fromParent(NUMBER));
      var options = PostgresOptions.ofDefaults().withoutMigration();
      try (var provider =
              PostgresQueueProvider.create(DatabaseAddress.ofEnvironment().source(), options);
          var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        System.out.println("ready");
        System.out.flush();
        if (System.in.read() < 0) {
          return; // The parent has ended.
        }
        var start = new Phaser(PRODUCERS);
        for (int i = 0; i < PRODUCERS; i++) {
          int producer = process * PRODUCERS + i;
          threads.execute(
              () -> {
                start.arriveAndAwaitAdvance();
                for (int k = 0; k < EACH; k++) {
                  send(provider, producer, k);
                }
              });
        }
      }
      System.out.println("done");
      System.out.flush();
      System.exit(0);
    }

    /** Repeats a send without an answer under the same id, as applications do. */
    private static void send(PostgresQueueProvider provider, int producer, int number) {
      var text = producer + "/" + number;
      var message = Message.of(SESSION, Payload.text(text)).withId(MessageId.of(text));
      while (true) {
        try {
          provider.send(QUEUE, List.of(message));
          return;
        } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
          // The same id is stored once only.
          Thread.onSpinWait();
        }
      }
    }
  }

  static Seen run(Path folder) throws Exception {
    var handled = Collections.synchronizedList(new ArrayList<String>());
    var children = new ArrayList<ChildProcess>();
    try (var postgres = EmbeddedPostgres.temporary();
        var provider = PostgresQueueProvider.create(postgres.dataSource())) {
      provider.declare(QUEUE, QueueSettings.ordered());
      for (int i = 0; i < PROCESSES; i++) {
        var environment = new HashMap<>(DatabaseAddress.of(postgres).asEnvironment());
        environment.put(NUMBER, Integer.toString(i));
        var log = folder.resolve("producers-" + i + ".log");
        children.add(ChildProcess.start("producers-" + i, Main.class, environment, log));
      }
      for (var child : children) {
        child.await("ready", PATIENCE);
      }
      long began = System.nanoTime();
      for (var child : children) {
        child.tell("go");
      }
      try (var processor =
          SessionProcessor.builder(
                  provider,
                  QUEUE,
                  (delivery, session) -> {
                    handled.add(delivery.payload().asText());
                    return Settlement.complete();
                  })
              .build()
              .start()) {
        for (var child : children) {
          child.await("done", PATIENCE);
        }
        awaitAll(handled, began);
      }
      long took = Duration.ofNanos(System.nanoTime() - began).toMillis();
      var wrong = firstWrong(List.copyOf(handled));
      var depth = provider.stats(QUEUE).depth();
      if (wrong.isPresent() || depth > 0) {
        return Seen.broken(wrong.orElse(depth + " messages are left"));
      }
      return Seen.kept(handled.size() + " messages in order, once, within " + took + " ms");
    } finally {
      children.forEach(ChildProcess::close);
    }
  }

  private static void awaitAll(List<String> handled, long began) throws InterruptedException {
    while (handled.size() < PROCESSES * PRODUCERS * EACH
        && System.nanoTime() - began < PATIENCE.toNanos()) {
      Thread.sleep(STEP);
    }
  }

  /** Returns the first violation of a producer's order; empty if there is none. */
  static Optional<String> firstWrong(List<String> handled) {
    Map<String, Integer> next = new HashMap<>();
    for (var text : handled) {
      var producer = text.substring(0, text.indexOf('/'));
      int number = Integer.parseInt(text.substring(text.indexOf('/') + 1));
      int expected = next.getOrDefault(producer, 0);
      if (number != expected) {
        return Optional.of(
            "producer " + producer + ": message " + number + " came instead of " + expected);
      }
      next.put(producer, expected + 1);
    }
    int all = PROCESSES * PRODUCERS * EACH;
    return handled.size() == all
        ? Optional.empty()
        : Optional.of(handled.size() + " of " + all + " messages were handled");
  }
}
