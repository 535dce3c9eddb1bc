package dev.sessionkeeper.simulator;

import dev.sessionkeeper.testkit.Violation;
import java.time.Duration;
import java.util.List;

/**
 * The result of one simulated run.
 *
 * @param violations broken invariants; the run ends at the first one
 * @param steps turns of threads and timers
 * @param handled messages that handlers began with, or acknowledgements
 * @param simulated how much time passed in the run
 * @param fingerprint a hash of all events in order; equal for equal runs
 * @param plan the steps of the plan, one line each; the index of a line is its number
 * @param trace the events, line by line, if requested
 */
public record SimulationReport(
    List<Violation> violations,
    long steps,
    long handled,
    Duration simulated,
    String fingerprint,
    List<String> plan,
    List<String> trace) {
  public SimulationReport {
    violations = List.copyOf(violations);
    plan = List.copyOf(plan);
    trace = List.copyOf(trace);
  }
}
