package dev.sessionkeeper.simulator;

import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The parts of the product that can be simulated. */
public enum Subject {
  /** Nodes with the product's session processor, on a modelled store. */
  NODES("nodes with the session processor: leases, order, effects, drains") {
    @Override
    public List<String> bugs() {
      return names(Bug.values());
    }

    @Override
    SimulationReport run(long seed, Optional<String> bug, boolean keepsTrace, BitSet skipped) {
      return NodeRun.run(NodePlan.of(seed), planted(Bug.class, bug), keepsTrace, skipped);
    }
  },
  /** Subscribers with the product's cursors and coalescing writer, on a modelled store. */
  CURSORS("subscribers with cursors and the coalescing writer") {
    @Override
    public List<String> bugs() {
      return names(CursorBug.values());
    }

    @Override
    SimulationReport run(long seed, Optional<String> bug, boolean keepsTrace, BitSet skipped) {
      return CursorRun.run(seed, planted(CursorBug.class, bug), keepsTrace, skipped);
    }
  },
  /** The protocol of registry, metering job and delivery; a model, not the product's code. */
  USAGE("a model of registered sessions, the metering job and the delivery of usage") {
    @Override
    public List<String> bugs() {
      return names(UsageBug.values());
    }

    @Override
    SimulationReport run(long seed, Optional<String> bug, boolean keepsTrace, BitSet skipped) {
      return UsageRun.run(seed, planted(UsageBug.class, bug), keepsTrace, skipped);
    }
  };

  private final String description;

  Subject(String description) {
    this.description = description;
  }

  /** Returns a description in one line. */
  public String description() {
    return description;
  }

  /** Returns the name on the command line. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the names of the bugs that can be planted here. */
  public abstract List<String> bugs();

  abstract SimulationReport run(
      long seed, Optional<String> bug, boolean keepsTrace, BitSet skipped);

  private static List<String> names(Enum<?>[] bugs) {
    return Arrays.stream(bugs)
        .map(bug -> bug.name().toLowerCase(Locale.ROOT).replace('_', '-'))
        .toList();
  }

  private static <B extends Enum<B>> Set<B> planted(Class<B> type, Optional<String> bug) {
    var bugs = EnumSet.noneOf(type);
    bug.ifPresent(
        name -> bugs.add(Enum.valueOf(type, name.toUpperCase(Locale.ROOT).replace('-', '_'))));
    return bugs;
  }
}
