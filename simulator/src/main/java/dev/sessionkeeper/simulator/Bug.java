package dev.sessionkeeper.simulator;

/**
 * Bugs that are planted into a modelled store or its client, to prove that the simulation finds
 * them. Each is a real one: from a published design, a library, or this product.
 */
public enum Bug {
  /** A retried message goes behind the others of its session. */
  RETRY_TO_TAIL("I1"),
  /** A message whose lease expired goes behind the others of its session. */
  EXPIRED_TO_TAIL("I1"),
  /** After a retry the rest of the batch may still be settled. */
  BATCH_GOES_ON_AFTER_RETRY("I1"),
  /** A settlement under an old epoch takes effect. */
  STALE_SETTLEMENT_COUNTS("I2"),
  /** A settlement under an expired lease takes effect. */
  LATE_SETTLEMENT_COUNTS("I2"),
  /** A former owner's close releases the lease of the new owner. */
  STALE_CLOSE_RELEASES("I2"),
  /** A former owner renews the lease of the new owner, and takes it for its own. */
  STALE_RENEWAL_COUNTS("I2"),
  /** A session is handed out although its lease has not expired. */
  LEASE_ENDS_EARLY("I2"),
  /** The store tells an owner a longer lease than it keeps. */
  LEASE_TOLD_TOO_LONG("I2"),
  /** A renewal is confirmed, and the lease ends as before. */
  RENEWAL_DOES_NOTHING("I2"),
  /** A client decides by its own wall clock whether a lease has expired. */
  LEASE_BY_NODE_CLOCK("I13"),
  /** A promoted standby continues with epochs that its predecessor has used. */
  PROMOTION_REPEATS_EPOCHS("I2"),
  /** A message id is stored again if its sender did not get the answer. */
  DUPLICATE_STORED("I4"),
  /** A message whose content equals that of an earlier one is taken for a duplicate. */
  EQUAL_CONTENT_DROPPED("I3"),
  /** A state is written before its settlement, in a transaction of its own. */
  STATE_BEFORE_SETTLEMENT("I4"),
  /** A send is acknowledged before it is durable. */
  ACKNOWLEDGED_TOO_EARLY("I3"),
  /** A dead letter is deleted. */
  DEAD_LETTER_DELETED("I8"),
  /** A takeover counts an attempt for messages that no handler saw. */
  ATTEMPT_NOBODY_USED("I8"),
  /** A settlement that may have taken effect is answered with "nothing was changed". */
  UNTRUE_ANSWER("I8"),
  /** A message that arrives at the same time as a settlement does not make its session ready. */
  SESSION_FORGOTTEN("I9"),
  /** The session that has waited for the shortest time is handed out first. */
  NEWEST_SESSION_FIRST("I9"),
  /** A lock is held until the client has read its answer. */
  LOCK_UNTIL_ANSWER_IS_READ("I9"),
  /** A released lease stays locked until it would have expired, and then for good. */
  LEASE_OF_DEAD_OWNER_STAYS("I9");

  private final String invariant;

  Bug(String invariant) {
    this.invariant = invariant;
  }

  /** Returns the invariant that the bug breaks. */
  public String invariant() {
    return invariant;
  }
}
