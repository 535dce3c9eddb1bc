package dev.sessionkeeper.coalescing;

/**
 * The health of a writer.
 *
 * @param status the status to show
 * @param detail one sentence of explanation
 */
public record WriterHealth(Status status, String detail) {

  /** The status, from good to bad. */
  public enum Status {
    UP,
    /** Values wait longer than usual, but nothing is lost. */
    DEGRADED,
    /** A worker died and its replacement has not written yet, or the writer is closed. */
    DOWN
  }
}
