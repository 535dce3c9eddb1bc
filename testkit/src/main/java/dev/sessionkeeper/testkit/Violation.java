package dev.sessionkeeper.testkit;

/**
 * A violation that a checker found in a history.
 *
 * @param invariant the broken invariant, such as {@code I1}
 */
public record Violation(String invariant, String what) {
  @Override
  public String toString() {
    return invariant + ": " + what;
  }
}
