package dev.sessionkeeper.coalescing;

/** The result of a submitted value. */
public sealed interface Outcome {

  /**
   * The store holds the submitted value or a newer one of the same key.
   *
   * @param version the version that was written
   */
  record Durable(long version) implements Outcome {}

  /** The store held this version or a newer one already, so nothing was changed. */
  record Superseded() implements Outcome {}

  /** The value was refused and is not kept. */
  record Rejected(Why why) implements Outcome {}

  /** The store does not know the key. */
  record NotFound() implements Outcome {}

  /**
   * The store refuses the value for good, or all attempts are used. The value is in the dead table,
   * unless the store refused that too.
   */
  record Dead(String cause) implements Outcome {}

  /**
   * The writer was closed before the value was saved. If its last write was in progress, the value
   * may have reached the store.
   */
  record Undrained(String cause) implements Outcome {}

  /** Returns whether the store holds this version or a newer one. */
  default boolean isSaved() {
    return switch (this) {
      case Durable d -> true;
      case Superseded s -> true;
      case Rejected r -> false;
      case NotFound n -> false;
      case Dead d -> false;
      case Undrained u -> false;
    };
  }

  /** Why a value was refused. */
  enum Why {
    /** The writer stayed full. Slow down and submit again. */
    FULL,
    /** The value alone is larger than the writer's whole capacity. */
    TOO_LARGE,
    /** The writer is closed or closing. */
    CLOSED,
    /** The caller wrote the value itself, and the store did not answer. */
    UNAVAILABLE
  }
}
