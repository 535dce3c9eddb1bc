package dev.sessionkeeper.processor;

import dev.sessionkeeper.SessionId;
import java.util.List;

/**
 * The result of draining a processor.
 *
 * @param unfinished sessions whose handler was still running at the deadline; their messages come
 *     again elsewhere
 */
public record DrainReport(int released, List<SessionId> unfinished) {
  public DrainReport {
    unfinished = List.copyOf(unfinished);
  }

  public boolean isClean() {
    return unfinished.isEmpty();
  }
}
