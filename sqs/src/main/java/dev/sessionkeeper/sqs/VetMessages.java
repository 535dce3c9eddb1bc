package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PoisonPolicy;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks messages before their delivery: one may be expired, out of attempts, or not yet due. */
final class VetMessages {
  private static final Logger log = LoggerFactory.getLogger(VetMessages.class);

  private final SqsQueue queue;
  private final DeleteMessages deleting;

  VetMessages(SqsQueue queue, DeleteMessages deleting) {
    this.queue = queue;
    this.deleting = deleting;
  }

  /**
   * Dead-letters messages that are expired or out of attempts, from the head on. Returns whether a
   * good one is at the head.
   */
  boolean findGoodHead(Deque<Item> items) {
    while (!items.isEmpty()) {
      var head = items.peek();
      if (queue.isExpired(head.received())) {
        setAside(head, SqsQueue.EXPIRED, head.lastError());
      } else if (queue.settings().isDeadLetterAfter(head.failures())
          && !head.known().keepsTrying()
          && head.failures() == head.known().failures()) {
        setAside(head, PoisonPolicy.USED_UP, head.lastError());
      } else {
        return true;
      }
      items.remove();
    }
    return false;
  }

  private void setAside(Item head, String reason, String error) {
    queue.setAside(head.received(), head.failures(), reason, error);
    var unused =
        deleting
            .delete(head.received().receipt(), new DeleteMessages.HoldDeletions(), () -> false)
            .exceptionally(
                failure -> {
                  log.debug("Message {} stays beside its dead letter", head.sequence(), failure);
                  return null;
                });
    log.warn(
        "Dead-lettered {} of {} after {} attempts: {}",
        head.sequence(),
        queue.name(),
        head.failures(),
        reason);
  }

  /** Checks as {@link #findGoodHead} does; a failure of SQS means that there is none. */
  boolean findGoodHeadNow(Deque<Item> items) {
    try {
      return findGoodHead(items);
    } catch (KeeperException e) {
      log.debug("A message of {} could not be set aside now", queue.name(), e);
      return false;
    }
  }
}
