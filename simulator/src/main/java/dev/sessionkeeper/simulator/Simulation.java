package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.CheckConservation;
import dev.sessionkeeper.testkit.CheckOrder;
import dev.sessionkeeper.testkit.CheckOwners;
import dev.sessionkeeper.testkit.History;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.testkit.Violation;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;

/**
 * Owners that accept, settle, crash, freeze and return too late, senders that repeat themselves, an
 * operator who acts, and a clock that jumps over leases: all on one thread and on virtual time, so
 * a seed always gives the same run, step by step.
 *
 * <p>The provider must use the given clock and no threads of its own; the memory provider does.
 * Checkers of order (I1), ownership (I2) and conservation (I3, I8) judge the history.
 */
public final class Simulation {
  private static final QueueName QUEUE = QueueName.of("simulation");
  private static final Duration LOCK = Duration.ofSeconds(1);
  private static final int STEPS_PER_MESSAGE = 400;

  private final Plan plan;
  private final Random random;
  private final QueueProvider provider;
  private final History history = new History();
  private final List<SimulatedOwner> owners = new ArrayList<>();
  private final Set<SessionId> paused = new HashSet<>();
  private int sent;
  private long steps;

  private Simulation(Plan plan, QueueProvider provider, SettableClock clock) {
    this.plan = plan;
    this.random = new Random(plan.seed());
    this.provider = provider;
    for (int i = 0; i < plan.owners(); i++) {
      owners.add(
          new SimulatedOwner(
              Owner.of("owner-" + i), random, provider.sessions(QUEUE), clock, history));
    }
  }

  /** The size and the seed of a run. */
  public record Plan(long seed, int owners, int sessions, int messages) {
    public Plan {
      requirePositive("owners", owners);
      requirePositive("sessions", sessions);
      requirePositive("messages", messages);
    }

    private static void requirePositive(String name, int value) {
      if (value < 1) {
        throw new IllegalArgumentException(name + " must be at least 1, was " + value);
      }
    }
  }

  /**
   * The result of a run.
   *
   * @param simulated how much time passed on the clock of the run
   * @param fingerprint a hash of all events in order; equal for equal runs
   */
  public record Outcome(
      long steps,
      long handled,
      long leasesLost,
      long deadLetters,
      Duration simulated,
      String fingerprint,
      List<Violation> violations) {}

  /** Runs the plan against a provider that is created with the clock of the run. */
  public static Outcome run(Plan plan, Function<TimeSource, QueueProvider> provider) {
    var clock = SettableClock.create();
    try (var queues = provider.apply(clock)) {
      // Unlimited attempts, because the history does not contain the store's own decisions.
      queues.declare(
          QUEUE, QueueSettings.ordered().withLockDuration(LOCK).withMaxDeliveryCount(1000));
      return new Simulation(plan, queues, clock).run(clock);
    }
  }

  private Outcome run(SettableClock time) {
    long began = time.nanoTime();
    long most = (long) STEPS_PER_MESSAGE * plan.messages() + 10_000;
    while (finished() < plan.messages() && steps < most) {
      steps++;
      step(time);
    }
    owners.forEach(SimulatedOwner::stop);
    return outcome(Duration.ofNanos(time.nanoTime() - began));
  }

  private int finished() {
    return owners.stream().mapToInt(SimulatedOwner::finished).sum();
  }

  private void step(SettableClock time) {
    int dice = random.nextInt(1000);
    if (dice < 60 && sent < plan.messages()) {
      send();
    } else if (dice < 65) {
      stepIn();
    } else if (dice < 165) {
      time.advance(Duration.ofMillis(random.nextInt(20)));
    } else if (dice < 167) {
      time.advance(LOCK.plusMillis(random.nextInt(500)));
    } else {
      owners.get(random.nextInt(owners.size())).step();
    }
  }

  private void send() {
    int size = Math.min(random.nextInt(1, 9), plan.messages() - sent);
    var batch = new ArrayList<Message>();
    for (int i = 0; i < size; i++) {
      batch.add(message(sent++));
    }
    if (random.nextInt(20) == 0) {
      batch.add(message(random.nextInt(sent))); // A sender that did not get its answer.
    }
    var outcomes = provider.send(QUEUE, batch);
    for (int i = 0; i < batch.size(); i++) {
      history.sent(batch.get(i).session().orElseThrow(), outcomes.get(i));
    }
  }

  private Message message(int number) {
    return Message.of(SessionId.of("s-" + number % plan.sessions()), Payload.empty())
        .withId(MessageId.of("m-" + number));
  }

  /** Lets an operator pause, resume or take away a session. */
  private void stepIn() {
    if (!(provider instanceof OperableSessions sessions)) {
      return;
    }
    var session = SessionId.of("s-" + random.nextInt(plan.sessions()));
    if (paused.remove(session)) {
      sessions.act(QUEUE, session, Act.RESUME, "simulated");
    } else if (random.nextInt(4) == 0 && sent < plan.messages()) {
      sessions.act(QUEUE, session, Act.PAUSE, "simulated");
      paused.add(session);
    } else {
      sessions.act(QUEUE, session, Act.RELEASE, "simulated");
    }
    if (sent == plan.messages()) {
      paused.forEach(one -> sessions.act(QUEUE, one, Act.RESUME, "simulated"));
      paused.clear();
    }
  }

  private Outcome outcome(Duration simulated) {
    var events = history.events();
    var violations = new ArrayList<Violation>();
    owners.forEach(owner -> violations.addAll(owner.violations()));
    violations.addAll(CheckOrder.of(events));
    violations.addAll(CheckOwners.of(events));
    var dead = deadLetters();
    if (finished() < plan.messages()) {
      violations.add(
          new Violation(
              "I9",
              "only "
                  + finished()
                  + " of "
                  + plan.messages()
                  + " came to their end in "
                  + steps
                  + " steps"));
    } else {
      violations.addAll(CheckConservation.of(events, Set.of(), dead));
    }
    return new Outcome(
        steps,
        events.stream().filter(History.Started.class::isInstance).count(),
        events.stream().filter(History.Lost.class::isInstance).count(),
        dead.size(),
        simulated,
        Integer.toHexString(events.toString().hashCode()),
        violations);
  }

  private Set<MessageId> deadLetters() {
    var ids = new HashSet<MessageId>();
    if (provider instanceof DeadLetterQueues queues) {
      Optional<String> cursor = Optional.empty();
      do {
        var page = queues.deadLetters(QUEUE, Optional.empty(), new Page.Request(1000, cursor));
        page.items().forEach(letter -> ids.add(letter.message().id()));
        cursor = page.next();
      } while (cursor.isPresent());
    }
    return ids;
  }
}
