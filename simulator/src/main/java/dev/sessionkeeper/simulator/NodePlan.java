package dev.sessionkeeper.simulator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * The faults and sends of one run, with their times. The same plan gives the same run.
 *
 * @param seed decides everything that the plan leaves open: delays, losses, the order of threads
 * @param isPipelined whether a worker continues before a settlement is durable
 */
record NodePlan(
    long seed,
    int nodes,
    int slots,
    int sessions,
    boolean isPipelined,
    int lost,
    List<Step> steps) {
  static final Duration LENGTH = Duration.ofSeconds(12);

  NodePlan {
    steps = List.copyOf(steps);
  }

  /** One step of a plan. */
  sealed interface Step {
    Duration at();
  }

  /** The ways in which a handler ends its attempts of a message. */
  enum Fate {
    FINE,
    SLOW,
    FAILS_ONCE,
    ASKS_FOR_RETRY,
    DEAD_LETTER,
    POISON
  }

  /** A sender stores messages of one session, and repeats the send until it has an answer. */
  record Send(Duration at, int session, int first, List<Fate> fates) implements Step {
    @Override
    public String toString() {
      return "send m-%d.. of session s-%d: %s".formatted(first, session, fates);
    }
  }

  /** The kinds of faults. */
  enum Kind {
    CRASH,
    FREEZE,
    PARTITION,
    SLOW_LINK,
    CLOCK_JUMP,
    RESTART,
    STORE_CRASH,
    PROMOTION
  }

  /** A temporary fault. */
  record Fault(Duration at, Kind kind, int node, Duration length) implements Step {
    @Override
    public String toString() {
      return switch (kind) {
        case STORE_CRASH -> "the store crashes and is back after " + millis(length);
        case PROMOTION -> "a standby that lacks the last " + millis(length) + " is promoted";
        case RESTART -> "node " + node + " drains, closes and starts again";
        case CLOCK_JUMP -> "the wall clock of node " + node + " jumps by " + millis(length);
        case CRASH -> "node " + node + " crashes and starts again after " + millis(length);
        case FREEZE -> "node " + node + " freezes for " + millis(length);
        case PARTITION -> "node " + node + " cannot reach the store for " + millis(length);
        case SLOW_LINK -> "the link of node " + node + " is slow for " + millis(length);
      };
    }
  }

  static String millis(Duration duration) {
    return duration.toMillis() + " ms";
  }

  static NodePlan of(long seed) {
    var random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
    int nodes = 1 + random.nextInt(3);
    int sessions = 1 + random.nextInt(4);
    var steps = new ArrayList<Step>();
    int message = 0;
    for (int i = 6 + random.nextInt(10); i > 0; i--) {
      var fates = new ArrayList<Fate>();
      for (int size = 1 + random.nextInt(4); size > 0; size--) {
        fates.add(fate(random));
      }
      steps.add(new Send(within(random, LENGTH), random.nextInt(sessions), message, fates));
      message += fates.size();
    }
    for (int i = random.nextInt(5); i > 0; i--) {
      var kinds = Kind.values();
      var kind = kinds[random.nextInt(kinds.length)];
      var length =
          switch (kind) {
            case CLOCK_JUMP -> Duration.ofHours(random.nextInt(49) - 24);
            case PROMOTION -> within(random, Duration.ofSeconds(1));
            case STORE_CRASH -> within(random, Duration.ofSeconds(2));
            // Some freeze for longer than a session may have to wait.
            case FREEZE -> within(random, Duration.ofSeconds(random.nextInt(3) == 0 ? 40 : 5));
            case CRASH, PARTITION, SLOW_LINK, RESTART -> within(random, Duration.ofSeconds(5));
          };
      steps.add(new Fault(within(random, LENGTH), kind, random.nextInt(nodes), length));
    }
    int lost = random.nextInt(3) == 0 ? random.nextInt(60) : 0;
    return new NodePlan(
        seed, nodes, 1 + random.nextInt(3), sessions, random.nextBoolean(), lost, steps);
  }

  private static Fate fate(Random random) {
    int dice = random.nextInt(100);
    return dice < 70
        ? Fate.FINE
        : dice < 78
            ? Fate.SLOW
            : dice < 86
                ? Fate.FAILS_ONCE
                : dice < 94 ? Fate.ASKS_FOR_RETRY : dice < 97 ? Fate.DEAD_LETTER : Fate.POISON;
  }

  private static Duration within(Random random, Duration most) {
    return Duration.ofMillis(random.nextLong(most.toMillis()));
  }

  NodePlan withSteps(List<Step> fewer) {
    return new NodePlan(seed, nodes, slots, sessions, isPipelined, lost, fewer);
  }

  NodePlan without(BitSet skipped) {
    var kept = new ArrayList<Step>();
    for (int i = 0; i < steps.size(); i++) {
      if (!skipped.get(i)) {
        kept.add(steps.get(i));
      }
    }
    return withSteps(kept);
  }

  /** Returns the steps as text. */
  List<String> items() {
    return steps.stream()
        .map(step -> String.format(Locale.ROOT, "at %6d ms  %s", step.at().toMillis(), step))
        .toList();
  }
}
