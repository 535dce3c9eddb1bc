package dev.sessionkeeper.simulator;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Nodes with the product's session processor on a modelled store, executing one plan. */
final class NodeRun {
  static final Duration LOCK = Duration.ofSeconds(2);
  static final int MAX_DELIVERIES = 4;
  private static final Duration QUIET = Duration.ofSeconds(90);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(12);
  private static final long MOST_STEPS = 200_000;

  private final NodePlan plan;
  private final Set<Bug> bugs;
  private final Trace trace;
  private final World world;
  private final Referee referee = new Referee();
  private final QueueTables tables;
  private final Store store;
  private final World.Machine environment;
  private final List<SimulatedNode> nodes = new ArrayList<>();
  private final TreeMap<Long, Snapshot> snapshots = new TreeMap<>();
  private final Map<SessionId, Instant> waitingSince = new HashMap<>();
  private int sending;
  private int drained;
  private boolean hasPromotion;

  NodeRun(NodePlan plan, Set<Bug> bugs, boolean keepsTrace) {
    this.plan = plan;
    this.bugs = bugs;
    this.trace = new Trace(keepsTrace);
    this.world = new World(plan.seed(), trace);
    this.environment = world.environment();
    this.tables = new QueueTables(bugs, referee, LOCK, MAX_DELIVERIES);
    this.store = new Store(world, tables, referee);
  }

  private record Snapshot(QueueTables.Copy tables, Referee.Copy books) {}

  static SimulationReport run(NodePlan plan, Set<Bug> bugs, boolean keepsTrace, BitSet skipped) {
    return new NodeRun(plan.without(skipped), bugs, keepsTrace).run(plan.items());
  }

  private SimulationReport run(List<String> items) {
    store.loses(plan.lost());
    var settings =
        QueueSettings.ordered().withLockDuration(LOCK).withMaxDeliveryCount(MAX_DELIVERIES);
    for (int i = 0; i < plan.nodes(); i++) {
      var node = new SimulatedNode(world, store, i, plan, settings, bugs);
      nodes.add(node);
      node.start();
    }
    plan.steps().forEach(this::schedule);
    keepSnapshots();
    look();
    boolean isOver = world.run(this::isOver, MOST_STEPS);
    if (referee.isContent()) {
      end(isOver);
    }
    world.end();
    return new SimulationReport(
        referee.violations(),
        world.steps(),
        referee.handled(),
        Duration.ofNanos(world.now()),
        trace.fingerprint(),
        items,
        trace.lines());
  }

  private boolean isOver() {
    return !referee.isContent()
        || (world.now() >= NodePlan.LENGTH.toNanos() && sending == 0 && referee.isAllEnded())
        || world.now() >= NodePlan.LENGTH.plus(QUIET).toNanos();
  }

  private void end(boolean isOver) {
    var open = referee.firstOpen();
    if (open != null || !isOver) {
      referee.broken("I9", open == null ? "the run does not end" : open);
      return;
    }
    nodes.forEach(node -> node.drain(() -> drained++));
    if (!world.run(() -> drained >= nodes.size() || !referee.isContent(), MOST_STEPS)) {
      referee.broken("I10", "a processor did not close");
    }
    referee.checkEnd(tables.deadLetters(), effects());
  }

  private Map<SessionId, List<Long>> effects() {
    var effects = new HashMap<SessionId, List<Long>>();
    tables
        .states()
        .forEach(
            (id, state) -> {
              if (SimulatedNode.keepsState(id)) {
                effects.put(id, SimulatedNode.sequences(state));
              }
            });
    return effects;
  }

  private void schedule(NodePlan.Step step) {
    switch (step) {
      case NodePlan.Send send -> {
        sending++;
        world.after(send.at(), environment, () -> world.start(environment, () -> send(send)));
      }
      case NodePlan.Fault fault -> {
        hasPromotion |= fault.kind() == NodePlan.Kind.PROMOTION || isLossy();
        world.after(
            fault.at(),
            environment,
            () -> {
              world.note("world", fault.toString());
              apply(fault);
            });
      }
    }
  }

  private boolean isLossy() {
    return bugs.contains(Bug.ACKNOWLEDGED_TOO_EARLY);
  }

  private void send(NodePlan.Send send) {
    var link = new Link(world, environment, store, Set.of());
    var session = SessionId.of("s-" + send.session());
    var messages = new ArrayList<Message>();
    for (int i = 0; i < send.fates().size(); i++) {
      messages.add(
          Message.of(session, Payload.empty())
              .withId(MessageId.of("m-" + (send.first() + i)))
              .withProperty(SimulatedNode.FATE, send.fates().get(i).name()));
    }
    while (true) {
      try {
        link.call("send " + messages.get(0).id(), () -> tables.send(messages, store.now()));
        messages.forEach(message -> referee.acknowledged(message.id()));
        sending--;
        return;
      } catch (KeeperException.OutcomeUnknown | KeeperException.Unavailable e) {
        world.await(() -> false, Duration.ofMillis(100));
      }
    }
  }

  private void apply(NodePlan.Fault fault) {
    var node = nodes.get(fault.node() % nodes.size());
    switch (fault.kind()) {
      case CRASH -> {
        node.crash();
        later(fault, node::start);
      }
      case FREEZE -> {
        node.freeze(true);
        later(fault, () -> node.freeze(false));
      }
      case PARTITION -> {
        node.cut(true);
        later(fault, () -> node.cut(false));
      }
      case SLOW_LINK -> {
        node.slow(40);
        later(fault, () -> node.slow(1));
      }
      case CLOCK_JUMP -> node.jump(fault.length());
      case RESTART -> node.restart();
      case STORE_CRASH -> {
        store.down(true);
        if (bugs.contains(Bug.ACKNOWLEDGED_TOO_EARLY)) {
          goBack(Duration.ofMillis(200), false);
        }
        later(fault, () -> store.down(false));
      }
      case PROMOTION -> goBack(fault.length(), true);
    }
  }

  private void later(NodePlan.Fault fault, Runnable mend) {
    world.after(fault.length(), environment, mend);
  }

  /** Sets the store back to an earlier moment. */
  private void goBack(Duration by, boolean isPromotion) {
    var before = snapshots.floorEntry(world.now() - by.toNanos());
    if (before == null) {
      return;
    }
    if (isPromotion) {
      referee.forgetSince(before.getValue().books());
      tables.promote(before.getValue().tables());
    } else {
      tables.restore(before.getValue().tables());
    }
  }

  private void keepSnapshots() {
    if (hasPromotion) {
      snapshots.put(world.now(), new Snapshot(tables.copy(), referee.copy()));
      if (world.now() < NodePlan.LENGTH.toNanos()) {
        world.after(Duration.ofMillis(100), environment, this::keepSnapshots);
      }
    }
  }

  /** Checks I9 during the run: with a healthy node and few sessions, no session waits for long. */
  private void look() {
    var now = store.now();
    var waiting = store.isDown() ? Set.<SessionId>of() : referee.waiting(now);
    waitingSince.keySet().retainAll(waiting);
    boolean isServed =
        nodes.stream().anyMatch(node -> node.isHealthyFor(LONGEST_WAIT))
            && world.now() > LONGEST_WAIT.toNanos();
    for (var session : waiting) {
      // It may have been taken and released between two looks.
      var taken = referee.takenAt(session);
      var since = waitingSince.merge(session, now, (before, later) -> before);
      since = taken.isAfter(since) ? taken : since;
      if (isServed && since.plus(LONGEST_WAIT).isBefore(now)) {
        referee.broken(
            "I9", "session %s has waited since %s beside a healthy node".formatted(session, since));
      }
    }
    world.after(LOOK, environment, this::look);
  }
}
