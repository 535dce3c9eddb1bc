package dev.sessionkeeper.simulator;

/** Bugs planted into the model of readers that share a queue by buckets. */
public enum SharedBug {
  /** Buckets are handed over without lanes for the sessions that are held. */
  HAND_OVER_WITHOUT_LANES,
  /** A change of the owned buckets does not wait for settlements that are under way. */
  OWNS_OUTSIDE_THE_KEY,
  /** The notes of a dead owner are not folded into the bundles. */
  NOTES_OF_THE_DEAD_FORGOTTEN,
  /** A settlement asks for a share of the queue, but not for one of these buckets. */
  BUCKETS_NOT_CHECKED,
  /** A settlement is fenced with the current epoch and not with that of its hold. */
  CURRENT_EPOCH_FENCES,
  /** Only readers notice that the database lost its tail. */
  ALIVE_CHECKED_BY_READERS_ONLY,
  /** A bundle of two owners is deleted without a look at the bits of the other. */
  DELETED_WITHOUT_ALL_BITS,
  /** Messages newer than the pages of new buckets are read before the last page. */
  NEWER_READ_BEFORE_LAST_PAGE,
  /** A session that was blocked stays blocked when its bucket comes back. */
  NEVER_UNBLOCKED,
  /** A mixed bundle counts as wholly one owner's. */
  MIXED_BUNDLE_TAKEN_FOR_OWN,
  /** An ask is answered from a snapshot that is older than the ask. */
  ASK_ANSWERED_FROM_OLD_SNAPSHOT
}
