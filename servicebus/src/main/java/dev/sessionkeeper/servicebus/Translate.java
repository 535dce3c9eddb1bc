package dev.sessionkeeper.servicebus;

import com.azure.core.amqp.exception.AmqpErrorCondition;
import com.azure.core.amqp.exception.AmqpException;
import com.azure.core.exception.ClientAuthenticationException;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Translates errors of the SDK to ours. */
final class Translate {
  private Translate() {}

  /** Translates a failure of a call on a queue. */
  static KeeperException error(QueueName queue, Throwable failure) {
    var cause = causeOf(failure);
    if (cause instanceof KeeperException known) {
      return known;
    }
    if (cause instanceof ServiceBusException e) {
      var reason = e.getReason();
      if (reason.equals(ServiceBusFailureReason.MESSAGING_ENTITY_NOT_FOUND)) {
        return new KeeperException.UnknownQueue(queue);
      }
      if (reason.equals(ServiceBusFailureReason.MESSAGE_SIZE_EXCEEDED)) {
        return new KeeperException.Rejected("Service Bus refused the message's size", e);
      }
      if (reason.equals(ServiceBusFailureReason.UNAUTHORIZED)) {
        return new KeeperException.Misconfigured("Service Bus refused the credentials", e);
      }
    }
    if (cause instanceof ClientAuthenticationException) {
      return new KeeperException.Misconfigured("Service Bus refused the credentials", cause);
    }
    return new KeeperException.Unavailable("Service Bus queue " + queue, cause);
  }

  /**
   * Translates a failure of a call under a lock: a lost lock, or a receiver that has ended, ends
   * the hold.
   */
  static KeeperException underLock(QueueName queue, String what, long epoch, Throwable failure) {
    var cause = causeOf(failure);
    if (isLockLost(cause)) {
      return new KeeperException.LockLost(what, epoch);
    }
    return error(queue, cause);
  }

  /**
   * Translates a failure of a changing call whose request was sent: unless the broker has refused
   * it, the outcome is unknown.
   */
  static KeeperException afterSending(QueueName queue, String what, Throwable failure) {
    var known = error(queue, failure);
    return known instanceof KeeperException.Unavailable
        ? new KeeperException.OutcomeUnknown(what, causeOf(failure))
        : known;
  }

  static boolean isLockLost(Throwable cause) {
    if (cause instanceof ServiceBusException e) {
      return e.getReason().equals(ServiceBusFailureReason.SESSION_LOCK_LOST)
          || e.getReason().equals(ServiceBusFailureReason.MESSAGE_LOCK_LOST);
    }
    // A receiver whose connection broke is disposed of and throws this exception.
    return cause instanceof IllegalStateException;
  }

  /** Returns whether the broker detached a receiver because its lock was over. */
  static boolean isLockEnd(Throwable failure) {
    var cause = causeOf(failure);
    return (cause instanceof AmqpException amqp
            && (amqp.getErrorCondition() == AmqpErrorCondition.SESSION_LOCK_LOST
                || amqp.getErrorCondition() == AmqpErrorCondition.MESSAGE_LOCK_LOST))
        || (cause instanceof ServiceBusException && isLockLost(cause));
  }

  /** Returns whether the session has another owner: only the AMQP condition tells this. */
  static boolean isContention(Throwable failure) {
    var cause = causeOf(failure);
    return (cause instanceof AmqpException amqp
            && amqp.getErrorCondition() == AmqpErrorCondition.SESSION_CANNOT_BE_LOCKED)
        || (cause instanceof ServiceBusException bus
            && bus.getReason().equals(ServiceBusFailureReason.SESSION_CANNOT_BE_LOCKED));
  }

  static Throwable causeOf(Throwable failure) {
    return (failure instanceof CompletionException || failure instanceof ExecutionException)
            && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
