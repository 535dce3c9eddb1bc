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
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Two consumers work on a database whose asynchronous standby misses the last seconds. The standby
 * is promoted; consumers and sender continue on it.
 *
 * <p>Messages that were acknowledged in those last seconds are lost, which no client can prevent.
 * All others must be handled, in order, and every session must make progress.
 */
final class PromoteStandby {
  private static final QueueName QUEUE = QueueName.of("promoted");
  private static final int SESSIONS = 40;
  private static final int CONSUMERS = 2;
  private static final Duration LOCK = Duration.ofSeconds(3);
  private static final Duration PHASE = Duration.ofSeconds(4);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long PAUSE = Duration.ofMillis(5).toNanos();
  private static final String JOURNAL = "KEEPER_PROMOTION_JOURNAL";

  private PromoteStandby() {}

  /** The process of a consumer; each line of its journal has time, session and number. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
      var journal = Path.of(ChildProcess.fromParent(JOURNAL));
      var options = PostgresOptions.ofDefaults().withoutMigration();
      try (var provider =
              PostgresQueueProvider.create(DatabaseAddress.ofEnvironment().source(), options);
          var lines = Files.newBufferedWriter(journal, StandardOpenOption.CREATE_NEW);
          var processor =
              SessionProcessor.builder(
                      provider,
                      QUEUE,
                      (delivery, session) -> {
                        var line =
                            System.nanoTime()
                                + " "
                                + session.id().value()
                                + " "
                                + delivery.payload().asText()
                                + "\n";
                        synchronized (lines) {
                          lines.write(line);
                          lines.flush();
                        }
                        LockSupport.parkNanos(PAUSE);
                        return Settlement.complete();
                      })
                  .maxConcurrentSessions(16)
                  .drainTimeout(Duration.ofSeconds(5))
                  .build()
                  .start()) {
        System.out.println("ready " + processor.state());
        System.out.flush();
        while (System.in.read() >= 0) {
          // Serves until the parent ends it.
        }
      }
      System.exit(0);
    }
  }

  /** A message with the time of its acknowledgement. */
  private record Sent(String session, int number, long acknowledgedAt) {}

  private record Handled(long at, String session, int number) {}

  static Seen run(Path folder) throws Exception {
    var children = new ArrayList<ChildProcess>();
    try (var primary = EmbeddedPostgres.temporary()) {
      var address = DatabaseAddress.of(primary);
      try (var provider = PostgresQueueProvider.create(primary.dataSource())) {
        provider.declare(QUEUE, QueueSettings.ordered().withLockDuration(LOCK));
      }
      try (var standby = Standby.of(primary, Files.createFile(folder.resolve("standby.log")));
          var network = FaultyNetwork.to(address.port())) {
        var through = address.through(network.port());
        for (int i = 0; i < CONSUMERS; i++) {
          var environment = new HashMap<>(through.asEnvironment());
          environment.put(JOURNAL, folder.resolve("consumer-" + i + ".journal").toString());
          children.add(
              ChildProcess.start(
                  "consumer-" + i,
                  Main.class,
                  environment,
                  folder.resolve("consumer-" + i + ".log")));
        }
        for (var child : children) {
          child.await("ready", PATIENCE);
        }
        var sender = new Sender(through);
        sender.sendFor(PHASE);
        standby.awaitAll(primary);
        long replicated = System.nanoTime();
        standby.isolate();
        sender.sendFor(PHASE.dividedBy(2));
        long tail = System.nanoTime();
        standby.promote();
        network.redirect(standby.address().port());
        long promoted = System.nanoTime();
        sender.sendFor(PHASE.multipliedBy(2));
        long depth = awaitEmpty(standby.address());
        for (var child : children) {
          child.leave();
          if (!child.awaitEnd(PATIENCE)) {
            return Seen.broken(child.name() + " did not end");
          }
        }
        return judge(sender.sent, handled(folder), new Times(replicated, tail, promoted), depth);
      }
    } finally {
      children.forEach(ChildProcess::close);
    }
  }

  /**
   * The times of a run.
   *
   * @param replicated everything that was written before this is on the standby
   * @param tail the last moment of the old primary
   * @param promoted from this moment on there is only the new primary
   */
  private record Times(long replicated, long tail, long promoted) {}

  /** Sends the next number of a session, until it is acknowledged. */
  private static final class Sender {
    private final List<Sent> sent = new ArrayList<>();
    private final DatabaseAddress address;
    private int count;

    Sender(DatabaseAddress address) {
      this.address = address;
    }

    void sendFor(Duration time) {
      long end = System.nanoTime() + time.toNanos();
      var options = PostgresOptions.ofDefaults().withoutMigration();
      try (var provider = PostgresQueueProvider.create(address.source(), options)) {
        while (System.nanoTime() < end) {
          var session = "s" + count % SESSIONS;
          int number = count / SESSIONS;
          count++;
          var message =
              Message.of(SessionId.of(session), Payload.text(Integer.toString(number)))
                  .withId(MessageId.of(session + "#" + number));
          untilAcknowledged(provider, message);
          sent.add(new Sent(session, number, System.nanoTime()));
          LockSupport.parkNanos(PAUSE);
        }
      }
    }

    private static void untilAcknowledged(PostgresQueueProvider provider, Message message) {
      while (true) {
        try {
          provider.send(QUEUE, List.of(message));
          return;
        } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
          LockSupport.parkNanos(PAUSE); // It is stored once: it keeps its id.
        }
      }
    }
  }

  private static long awaitEmpty(DatabaseAddress address) throws InterruptedException {
    var options = PostgresOptions.ofDefaults().withoutMigration();
    try (var provider = PostgresQueueProvider.create(address.source(), options)) {
      long end = System.nanoTime() + PATIENCE.toNanos();
      long depth = provider.stats(QUEUE).depth();
      while (depth > 0 && System.nanoTime() < end) {
        Thread.sleep(100);
        depth = provider.stats(QUEUE).depth();
      }
      return depth;
    }
  }

  private static List<Handled> handled(Path folder) throws IOException {
    var all = new ArrayList<Handled>();
    for (int i = 0; i < CONSUMERS; i++) {
      for (var line : Files.readAllLines(folder.resolve("consumer-" + i + ".journal"))) {
        var parts = line.split(" ", -1);
        all.add(new Handled(Long.parseLong(parts[0]), parts[1], Integer.parseInt(parts[2])));
      }
    }
    all.sort((a, b) -> Long.compare(a.at, b.at));
    return all;
  }

  private static Seen judge(List<Sent> sent, List<Handled> handled, Times times, long depth) {
    if (depth > 0) {
      return Seen.broken(depth + " messages are left after " + PATIENCE);
    }
    // Open deliveries may still be handled until their leases end.
    long settled = times.promoted + LOCK.toNanos();
    var wrong =
        firstOutOfOrder(handled.stream().filter(each -> each.at < times.promoted).toList())
            .or(
                () ->
                    firstOutOfOrder(handled.stream().filter(each -> each.at >= settled).toList()));
    if (wrong.isPresent()) {
      return Seen.broken(wrong.get());
    }
    Map<String, Set<Integer>> seen = new TreeMap<>();
    handled.forEach(
        each -> seen.computeIfAbsent(each.session, key -> new HashSet<>()).add(each.number));
    long tail = 0;
    for (var message : sent) {
      boolean isInTail =
          message.acknowledgedAt > times.replicated && message.acknowledgedAt <= times.tail;
      tail += isInTail ? 1 : 0;
      if (!isInTail && !seen.getOrDefault(message.session, Set.of()).contains(message.number)) {
        return Seen.broken(
            "message " + message.number + " of session " + message.session + " was not handled");
      }
    }
    long after = sent.stream().filter(each -> each.acknowledgedAt > times.promoted).count();
    return after == 0 || tail == 0
        ? Seen.broken(tail + " messages in the tail, " + after + " after it: too few to judge")
        : Seen.kept(
            sent.size()
                + " sent, "
                + tail
                + " of them in the tail, "
                + after
                + " after the promotion; order held, all others handled");
  }

  /**
   * Returns the first message out of order: deliveries may be repeated, but a number must not come
   * first after a higher one.
   */
  static Optional<String> firstOutOfOrderOf(List<String> sessions, List<Integer> numbers) {
    var list = new ArrayList<Handled>();
    for (int i = 0; i < sessions.size(); i++) {
      list.add(new Handled(i, sessions.get(i), numbers.get(i)));
    }
    return firstOutOfOrder(list);
  }

  private static Optional<String> firstOutOfOrder(List<Handled> handled) {
    Map<String, Integer> highest = new HashMap<>();
    Map<String, Set<Integer>> seen = new HashMap<>();
    for (var each : handled) {
      boolean isNew = seen.computeIfAbsent(each.session, key -> new HashSet<>()).add(each.number);
      int before = highest.getOrDefault(each.session, -1);
      if (isNew && each.number < before) {
        return Optional.of(
            "session " + each.session + ": " + each.number + " was handled first after " + before);
      }
      highest.put(each.session, Math.max(before, each.number));
    }
    return Optional.empty();
  }
}
