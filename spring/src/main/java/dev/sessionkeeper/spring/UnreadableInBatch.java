package dev.sessionkeeper.spring;

import dev.sessionkeeper.KeeperException;

/** Reports that a message of a batch cannot be read, while those before it can. */
final class UnreadableInBatch extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final int index;

  UnreadableInBatch(int index, KeeperException.Rejected cause) {
    super(cause);
    this.index = index;
  }

  int index() {
    return index;
  }
}
