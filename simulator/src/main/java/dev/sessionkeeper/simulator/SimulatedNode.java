package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.ProcessorEvent;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.testkit.History;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A process with the product's session processor. It may crash, freeze, and restart. */
final class SimulatedNode {
  static final String FATE = "fate";
  private static final Duration DRAIN = Duration.ofSeconds(5);
  // The processor checks its leases every twentieth of their length; the rest is for the scheduling
  // of its threads.
  private static final Duration TOLERANCE = NodeRun.LOCK.dividedBy(10);

  private final World world;
  private final Store store;
  private final int number;
  private final NodePlan plan;
  private final QueueSettings settings;
  private final Set<Bug> bugs;
  private final Random random;
  private World.Machine machine;
  private SimulatedTime time;
  private Link link;
  private Duration clockOffset = Duration.ZERO;
  private @Nullable SessionProcessor processor;
  private boolean isClosing;
  private int lives;
  private long healthySince;
  private long thawedAt = Long.MIN_VALUE / 2;

  SimulatedNode(
      World world, Store store, int number, NodePlan plan, QueueSettings settings, Set<Bug> bugs) {
    this.world = world;
    this.store = store;
    this.number = number;
    this.plan = plan;
    this.settings = settings;
    this.bugs = bugs;
    this.random = new Random(plan.seed() + number);
    this.machine = new World.Machine("node-" + number);
    this.time = new SimulatedTime(world, machine, clockOffset);
    this.link = new Link(world, machine, store, bugs);
  }

  World.Machine machine() {
    return machine;
  }

  boolean isHealthyFor(Duration length) {
    return !machine.isDead
        && !machine.isFrozen
        && !link.isCut
        && link.slowness == 1
        && world.now() - healthySince > length.toNanos();
  }

  void start() {
    if (processor != null) {
      return;
    }
    boolean wasCut = link.isCut;
    int slowness = link.slowness;
    machine = new World.Machine("node-" + number + (lives == 0 ? "" : "." + lives));
    lives++;
    time = new SimulatedTime(world, machine, clockOffset);
    link = new Link(world, machine, store, bugs);
    link.isCut = wasCut;
    link.slowness = slowness;
    healthySince = world.now();
    var provider =
        new QueueClient(world, machine, time, link, store, settings, bugs, plan.isPipelined());
    var built =
        SessionProcessor.builder(provider, QueueClient.QUEUE, this::handle)
            .maxConcurrentSessions(plan.slots())
            .sessionIdleTimeout(Duration.ofSeconds(1))
            .prefetch(1 + random.nextInt(4))
            .maxMessagesPerHold(1 + random.nextInt(8))
            .retry(
                new RetryPolicy(
                    NodeRun.MAX_DELIVERIES, Duration.ofMillis(50), 2, Duration.ofMillis(400), 0.25))
            .drainTimeout(DRAIN)
            .owner(Owner.of(machine.name))
            .listener(this::heard)
            .threads(world.threads(machine))
            .backgroundThreads(world.threads(machine))
            .time(time)
            .random(new Random(random.nextLong()))
            .build();
    processor = built;
    built.start();
  }

  void crash() {
    isClosing = false;
    processor = null;
    world.kill(machine);
  }

  void freeze(boolean isFrozen) {
    machine.isFrozen = isFrozen;
    healthySince = world.now();
    thawedAt = isFrozen ? thawedAt : world.now();
  }

  void cut(boolean isCut) {
    link.isCut = isCut;
    healthySince = world.now();
  }

  void slow(int slowness) {
    link.slowness = slowness;
    healthySince = world.now();
  }

  void jump(Duration by) {
    clockOffset = clockOffset.plus(by);
    time.jump(by);
  }

  /** Drains the processor and starts it again, as a deployment does. */
  void restart() {
    if (isClosing) {
      return;
    }
    drain(
        () -> {
          processor = null;
          start();
        });
  }

  /** Closes the processor, which must not take longer than its drain timeout. */
  void drain(Runnable then) {
    var closing = processor;
    if (closing == null) {
      then.run();
      return;
    }
    if (isClosing) {
      // A second close waits for the first one.
      world.after(Duration.ofMillis(100), world.environment(), () -> drain(then));
      return;
    }
    isClosing = true;
    healthySince = world.now();
    world.start(
        machine,
        () -> {
          long began = world.now();
          var report = closing.drain();
          long took = world.now() - began;
          world.note(machine.name, "drained: " + report);
          // A frozen process cannot keep a deadline.
          if (thawedAt < began && took > DRAIN.plusSeconds(2).toNanos()) {
            store
                .referee()
                .broken("I10", machine.name + " took " + Duration.ofNanos(took) + " to drain");
          }
          isClosing = false;
          then.run();
        });
  }

  private void heard(ProcessorEvent event) {
    switch (event) {
      case ProcessorEvent.HandlingEnded ended ->
          store
              .referee()
              .finished(
                  ended.session(),
                  ended.epoch(),
                  ended.delivery().sequence(),
                  History.isFinal(ended.settlement()));
      case ProcessorEvent.OrderViolated violated ->
          store.referee().broken("I1", machine.name + " reports " + violated);
      case ProcessorEvent.LeaseLost lost ->
          world.note(machine.name, "lost " + lost.session() + " epoch " + lost.epoch());
      case ProcessorEvent.Failed failed ->
          world.note(
              machine.name,
              "failed: " + failed.context().phase() + " " + failed.error().getMessage());
      case ProcessorEvent.HandlingStarted started -> {}
      case ProcessorEvent.SessionOpened opened -> {}
      case ProcessorEvent.SessionClosed closed -> {}
      case ProcessorEvent.LeaseRenewed renewed -> {}
    }
  }

  private Settlement handle(Delivery delivery, SessionContext context) throws Exception {
    var session = context.id();
    long epoch = context.epoch();
    world.note(
        machine.name,
        "handles %d of %s, attempt %d, epoch %d"
            .formatted(delivery.sequence(), session, delivery.attempt(), epoch));
    boolean mayBeLate = world.now() - thawedAt < NodeRun.LOCK.toNanos();
    store
        .referee()
        .started(
            machine.name,
            session,
            epoch,
            delivery,
            store.now(),
            mayBeLate ? Duration.ofDays(1) : TOLERANCE);
    var fate = NodePlan.Fate.valueOf(delivery.message().properties().getOrDefault(FATE, "FINE"));
    time.sleep(work(fate));
    return switch (fate) {
      case FINE, SLOW -> completed(delivery, context);
      case FAILS_ONCE -> {
        if (delivery.attempt() == 1) {
          throw new IllegalStateException("fails once");
        }
        yield completed(delivery, context);
      }
      case ASKS_FOR_RETRY ->
          delivery.attempt() == 1
              ? Settlement.retryAfter(Duration.ofMillis(random.nextInt(300)))
              : completed(delivery, context);
      case DEAD_LETTER -> Settlement.deadLetter("of no use");
      case POISON -> throw new IllegalStateException("fails always");
    };
  }

  private Duration work(NodePlan.Fate fate) {
    return fate == NodePlan.Fate.SLOW
        ? NodeRun.LOCK.multipliedBy(3).dividedBy(2).plusMillis(random.nextInt(1000))
        : Duration.ofMillis(random.nextInt(80));
  }

  /**
   * Completes a message. Sessions with an even number write their effect together with the
   * settlement.
   */
  private static Settlement completed(Delivery delivery, SessionContext context) {
    if (keepsState(context.id())) {
      var state = context.state();
      var effects = new ArrayList<>(sequences(state));
      effects.add(delivery.sequence());
      context.writeStateOnSettle(new SessionState.Write(bytes(effects), state.version()));
    }
    return Settlement.complete();
  }

  static boolean keepsState(SessionId session) {
    return (session.value().charAt(session.value().length() - 1) - '0') % 2 == 0;
  }

  static List<Long> sequences(SessionState state) {
    var sequences = new ArrayList<Long>();
    for (var text : new String(state.bytes(), StandardCharsets.UTF_8).split(",", -1)) {
      if (!text.isEmpty()) {
        sequences.add(Long.parseLong(text));
      }
    }
    return sequences;
  }

  private static byte[] bytes(List<Long> sequences) {
    return String.join(",", sequences.stream().map(String::valueOf).toList())
        .getBytes(StandardCharsets.UTF_8);
  }
}
