package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends messages of many sessions through processors whose handlers fail, throw, sleep and lose
 * their lock, whose hooks throw, and whose concurrency changes all the time. Checks that no message
 * is overtaken (I1), no session has two owners (I2) and nothing is lost (I8).
 *
 * <p>The seed alone determines the end of each attempt, but not the interleaving of threads. The
 * queue must exist, be empty and allow at least 1,000 deliveries.
 */
public final class RandomisedRun {
  private static final int BATCH = 50;
  private static final int MOST_SHOWN = 20;

  private final QueueProvider provider;
  private final QueueName queue;
  private final long seed;
  private final int sessions;
  private final int messages;
  private final TimeSource time;
  private final Runnable tick;
  private final Trouble trouble;
  private final RunRecord ledger = new RunRecord();
  private final History history = new History();
  private final Random random;

  private RandomisedRun(
      QueueProvider provider,
      QueueName queue,
      long seed,
      int sessions,
      int messages,
      TimeSource time,
      Runnable tick,
      Trouble trouble) {
    this.provider = provider;
    this.queue = queue;
    this.seed = seed;
    this.sessions = sessions;
    this.messages = messages;
    this.time = time;
    this.tick = tick;
    this.trouble = trouble;
    this.random = new Random(seed);
  }

  /** Creates a run of 20,000 messages in 200 sessions, in real time. */
  public static RandomisedRun on(QueueProvider provider, QueueName queue, long seed) {
    return new RandomisedRun(
        provider, queue, seed, 200, 20_000, TimeSource.system(), RandomisedRun::rest, Trouble.NONE);
  }

  public RandomisedRun ofSize(int sessionCount, int messageCount) {
    return new RandomisedRun(
        provider, queue, seed, sessionCount, messageCount, time, tick, trouble);
  }

  /**
   * Returns a run on a settable clock, which moves a little whenever the run has nothing else to
   * do.
   */
  public RandomisedRun moving(SettableClock clock, Duration step) {
    Runnable move =
        () -> {
          clock.advance(step);
          rest();
        };
    return new RandomisedRun(provider, queue, seed, sessions, messages, clock, move, trouble);
  }

  /**
   * Returns a run with this many external faults, evenly spread over the sent messages, so that a
   * fast machine and a slow one get equally many.
   *
   * @param mishap causes the fault
   */
  public RandomisedRun troubled(int times, Runnable mishap) {
    return new RandomisedRun(
        provider, queue, seed, sessions, messages, time, tick, new Trouble(times, mishap));
  }

  /**
   * Runs until every message is done or a dead letter.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public Report run(Duration atMost) throws InterruptedException {
    var handler = new RandomisedHandler(provider, queue, seed, ledger, history, time);
    var processors = new ArrayList<SessionProcessor>();
    processors.add(processor(handler, 1).start());
    processors.add(processor(handler, 2).start());
    long started = System.nanoTime();
    int sent = 0;
    int changes = 0;
    int unfinished = 0;
    while (!isOver(sent, handler) && System.nanoTime() - started < atMost.toNanos()) {
      if (sent < messages && random.nextInt(3) > 0) {
        int before = sent;
        sent += send(sent);
        trouble.comeBetween(before, sent, messages);
      }
      if (random.nextInt(10) == 0) {
        processors.get(random.nextInt(2)).changeConcurrency(1 + random.nextInt(32));
        changes++;
      }
      if (random.nextInt(300) == 0) {
        int which = random.nextInt(2);
        unfinished += close(processors.get(which));
        processors.set(which, processor(handler, changes + 3).start());
      }
      tick.run();
    }
    for (var processor : processors) {
      unfinished += close(processor);
    }
    var dead = deadLetters();
    checkLosses(sent, handler, dead);
    return new Report(
        sent,
        ledger.completed(),
        dead.map(Set::size).orElse(handler.setAside()),
        ledger.handled(),
        handler.locksLost(),
        ledger.fenced(),
        changes,
        unfinished,
        violations(dead));
  }

  /**
   * Returns the violations that the run record saw at once, and those that the checkers find in the
   * history.
   */
  private List<String> violations(Optional<Set<MessageId>> dead) {
    var events = new ArrayList<>(history.events());
    // A handler may start before the preceding send has returned to its sender.
    events.sort(Comparator.comparing(event -> !(event instanceof History.Accepted)));
    var found = new ArrayList<>(ledger.violations());
    CheckOrder.of(events).forEach(violation -> found.add(violation.toString()));
    CheckOwners.of(events).forEach(violation -> found.add(violation.toString()));
    dead.ifPresent(
        letters ->
            CheckConservation.of(events, Set.of(), letters)
                .forEach(violation -> found.add(violation.toString())));
    return found.subList(0, Math.min(found.size(), MOST_SHOWN));
  }

  private boolean isOver(int sent, RandomisedHandler handler) {
    return sent == messages && handler.settled() >= messages && ledgerIsFull(sent, handler);
  }

  /** Returns whether every message has ended, as far as handlers know. */
  private boolean ledgerIsFull(int sent, RandomisedHandler handler) {
    for (int i = 0; i < sent; i++) {
      if (!ledger.isCompleted(sessionOf(i), numberOf(i)) && !handler.isSetAside(idOf(i))) {
        return false;
      }
    }
    return handler.isQuiet();
  }

  private int close(SessionProcessor processor) throws InterruptedException {
    var drained = new CompletableFuture<Integer>();
    Thread.ofPlatform().start(() -> drained.complete(processor.drain().unfinished().size()));
    while (!drained.isDone()) {
      tick.run();
    }
    return drained.join();
  }

  private SessionProcessor processor(RandomisedHandler handler, int number) {
    return SessionProcessor.builder(provider, queue, handler)
        .hooks(new RandomisedHooks(seed))
        .listener(handler)
        .maxConcurrentSessions(8)
        .maxMessagesPerHold(1 + random.nextInt(100))
        .prefetch(1 + random.nextInt(32))
        .sessionIdleTimeout(Duration.ofMillis(20 + random.nextInt(200)))
        .drainTimeout(Duration.ofSeconds(20))
        .retry(new RetryPolicy(6, Duration.ofMillis(1), 3, Duration.ofMillis(60), 0.5))
        .time(time)
        .random(new Random(seed + number))
        .build();
  }

  private int send(int from) {
    int count = Math.min(1 + random.nextInt(BATCH), messages - from);
    var batch = new ArrayList<Message>(count);
    for (int i = from; i < from + count; i++) {
      batch.add(
          Message.of(sessionOf(i), Payload.text(Integer.toString(numberOf(i)))).withId(idOf(i)));
    }
    var outcomes = provider.send(queue, batch);
    for (int i = 0; i < count; i++) {
      history.sent(sessionOf(from + i), outcomes.get(i));
    }
    return count;
  }

  private SessionId sessionOf(int index) {
    return SessionId.of("run-" + index % sessions);
  }

  private int numberOf(int index) {
    return index / sessions;
  }

  private MessageId idOf(int index) {
    return RandomisedHandler.idOf(sessionOf(index), numberOf(index));
  }

  private Optional<Set<MessageId>> deadLetters() {
    if (!(provider instanceof DeadLetterQueues letters)) {
      return Optional.empty();
    }
    var found = new HashSet<MessageId>();
    Optional<String> cursor = Optional.empty();
    do {
      var page = letters.deadLetters(queue, Optional.empty(), new Page.Request(1000, cursor));
      page.items().forEach(dead -> found.add(dead.message().id()));
      cursor = page.next();
    } while (cursor.isPresent());
    return Optional.of(found);
  }

  private void checkLosses(int sent, RandomisedHandler handler, Optional<Set<MessageId>> dead) {
    if (sent < messages) {
      ledger.violated("I8", "only " + sent + " of " + messages + " messages were sent in time");
    }
    for (int i = 0; i < sent; i++) {
      boolean isDone = ledger.isCompleted(sessionOf(i), numberOf(i));
      boolean isDead =
          dead.isPresent() ? dead.get().contains(idOf(i)) : handler.isSetAside(idOf(i));
      if (!isDone && !isDead) {
        ledger.violated("I8", "message " + idOf(i) + " is neither done nor a dead letter");
      }
    }
  }

  private static void rest() {
    LockSupport.parkNanos(500_000);
  }

  /** An external fault and how often it happens during a run. */
  private record Trouble(int times, Runnable mishap) {
    static final Trouble NONE = new Trouble(0, () -> {});

    void comeBetween(int before, int after, int all) {
      long due = (long) after * times / all - (long) before * times / all;
      for (long i = 0; i < due; i++) {
        mishap.run();
      }
    }
  }

  /**
   * The result of a run.
   *
   * @param handled how often a handler was called
   * @param fenced how often a handler came too late and was refused by its epoch
   * @param violations empty if all is well
   */
  public record Report(
      int sent,
      int completed,
      int deadLetters,
      int handled,
      int locksLost,
      int fenced,
      int concurrencyChanges,
      int unfinished,
      List<String> violations) {}
}
