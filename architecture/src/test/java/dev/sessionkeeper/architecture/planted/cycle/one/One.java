package dev.sessionkeeper.architecture.planted.cycle.one;

import dev.sessionkeeper.architecture.planted.cycle.two.Two;

/** Half of a cycle between two packages. */
public final class One {
  public Two other() {
    return new Two();
  }
}
