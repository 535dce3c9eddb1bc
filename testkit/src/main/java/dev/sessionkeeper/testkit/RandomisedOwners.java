package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets many owners concurrently accept, settle, retry, abandon and lose sessions of a provider,
 * while senders send and an operator takes sessions away. Then checks the history: order (I1),
 * ownership (I2), nothing lost (I3, I8).
 *
 * <p>It uses the provider directly, without a processor. The seed determines each owner's
 * decisions, but not the interleaving of threads. The queue must not exist before.
 */
public final class RandomisedOwners {
  private static final Duration STEP = Duration.ofMillis(20);
  private static final Duration LONGEST = Duration.ofSeconds(60);

  private final QueueProvider provider;
  private final QueueName queue;
  private final ContractTime time;
  private final Plan plan;
  private final History history = new History();
  private final Queue<Violation> refusals = new ConcurrentLinkedQueue<>();
  private final AtomicInteger finished = new AtomicInteger();
  private volatile boolean over;

  private RandomisedOwners(QueueProvider provider, QueueName queue, ContractTime time, Plan plan) {
    this.provider = provider;
    this.queue = queue;
    this.time = time;
    this.plan = plan;
  }

  /**
   * The size of a run.
   *
   * @param owners threads that accept sessions
   */
  public record Plan(long seed, int owners, int sessions, int messages) {}

  /**
   * The result of a run.
   *
   * @param handled how often a message was handled
   * @param lost how often an owner lost its lease
   */
  public record Outcome(long handled, long lost, long deadLetters, List<Violation> violations) {}

  /** Runs the plan; the provider must use the clock {@code time}. */
  public static Outcome run(QueueProvider provider, QueueName queue, ContractTime time, Plan plan) {
    return new RandomisedOwners(provider, queue, time, plan).run();
  }

  private Outcome run() {
    // Unlimited attempts, because the history does not contain the store's own decisions.
    provider.declare(
        queue,
        QueueSettings.ordered().withLockDuration(Duration.ofSeconds(1)).withMaxDeliveryCount(1000));
    var threads = new ArrayList<Thread>();
    threads.add(Thread.ofVirtual().start(this::send));
    threads.add(Thread.ofVirtual().start(this::takeAway));
    for (int i = 0; i < plan.owners(); i++) {
      var owner =
          new RandomisedOwner(
              "owner-" + i,
              new Random(plan.seed() * 31 + i),
              provider,
              queue,
              time,
              history,
              refusals::add);
      threads.add(Thread.ofVirtual().start(() -> owner.work(finished, () -> over)));
    }
    boolean inTime = letTimePass();
    over = true;
    threads.forEach(RandomisedOwners::join);
    return outcome(inTime);
  }

  private boolean letTimePass() {
    long end = System.nanoTime() + LONGEST.toNanos();
    while (finished.get() < plan.messages() && System.nanoTime() - end < 0) {
      time.pass(STEP);
      Eventually.sleep(Duration.ofMillis(1));
    }
    return finished.get() >= plan.messages();
  }

  private void send() {
    var random = new Random(plan.seed());
    for (int sent = 0; sent < plan.messages() && !over; ) {
      int size = Math.min(random.nextInt(1, 10), plan.messages() - sent);
      var batch = new ArrayList<Message>();
      for (int i = 0; i < size; i++) {
        batch.add(Message.of(session(random), Payload.empty()).withId(MessageId.of("m-" + sent++)));
      }
      var outcomes = provider.send(queue, batch);
      for (int i = 0; i < size; i++) {
        history.sent(batch.get(i).session().orElseThrow(), outcomes.get(i));
      }
    }
  }

  private void takeAway() {
    if (!(provider instanceof OperableSessions sessions)) {
      return;
    }
    var random = new Random(-plan.seed());
    while (!over) {
      sessions.act(queue, session(random), OperableSessions.Act.RELEASE, "taken away");
      Eventually.sleep(Duration.ofMillis(random.nextInt(1, 5)));
    }
  }

  private SessionId session(Random random) {
    return SessionId.of("s-" + random.nextInt(plan.sessions()));
  }

  private Outcome outcome(boolean inTime) {
    var events = history.events();
    var dead = deadLetters();
    var violations = new ArrayList<>(refusals);
    if (!inTime) {
      violations.add(
          new Violation(
              "I9", "only " + finished + " of " + plan.messages() + " came to their end"));
    }
    violations.addAll(CheckOrder.of(events));
    violations.addAll(CheckOwners.of(events));
    if (inTime) {
      violations.addAll(CheckConservation.of(events, Set.of(), dead));
    }
    return new Outcome(
        events.stream().filter(History.Started.class::isInstance).count(),
        events.stream().filter(History.Lost.class::isInstance).count(),
        dead.size(),
        violations);
  }

  private Set<MessageId> deadLetters() {
    var ids = new HashSet<MessageId>();
    if (provider instanceof DeadLetterQueues queues) {
      var request = Page.Request.first(Page.Request.MAX_LIMIT);
      while (true) {
        var page = queues.deadLetters(queue, Optional.empty(), request);
        page.items().forEach(letter -> ids.add(letter.message().id()));
        if (page.next().isEmpty()) {
          break;
        }
        request = new Page.Request(Page.Request.MAX_LIMIT, page.next());
      }
    }
    return ids;
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("The run was interrupted", e);
    }
  }
}
