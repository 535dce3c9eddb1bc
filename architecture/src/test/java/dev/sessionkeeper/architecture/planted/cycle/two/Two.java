package dev.sessionkeeper.architecture.planted.cycle.two;

import dev.sessionkeeper.architecture.planted.cycle.one.One;

/** Half of a cycle between two packages. */
public final class Two {
  public One other() {
    return new One();
  }
}
