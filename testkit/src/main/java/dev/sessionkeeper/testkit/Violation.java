package dev.sessionkeeper.testkit;

/**
 * Something in a history that must not be there.
 *
 * @param invariant which one is broken, such as {@code I1}
 */
public record Violation(String invariant, String what) {
  @Override
  public String toString() {
    return invariant + ": " + what;
  }
}
