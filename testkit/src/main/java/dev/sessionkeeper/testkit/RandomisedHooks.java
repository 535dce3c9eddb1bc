package dev.sessionkeeper.testkit;

import dev.sessionkeeper.processor.CloseReason;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionHooks;
import java.util.Objects;

/** Hooks that sometimes throw, as the seed decides. */
record RandomisedHooks(long seed) implements SessionHooks {

  @Override
  public void onSessionOpened(SessionContext session) {
    if (dice(session, 1) < 1) {
      throw new IllegalStateException("the open hook fails, as the seed wants it");
    }
  }

  @Override
  public void onSessionClosed(SessionContext session, CloseReason reason) {
    if (dice(session, 2) < 10) {
      throw new IllegalStateException("the close hook fails, as the seed wants it");
    }
  }

  private int dice(SessionContext session, int salt) {
    return Math.floorMod(Objects.hash(seed, session.id(), session.epoch(), salt) * 0x9E3779B1, 100);
  }
}
