package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverAsyncClient;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import dev.sessionkeeper.KeeperException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Dead-letters the messages of a session whose id is not valid here, and releases the session.
 * Otherwise its lock would hide the messages.
 */
final class SetAsideSession {
  static final String REASON = "unusable session id";
  private static final Logger log = LoggerFactory.getLogger(SetAsideSession.class);
  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final int AT_ONCE = 10;

  private final QueueContext queue;
  private final Duration patience;

  SetAsideSession(QueueContext queue, Duration patience) {
    this.queue = queue;
    this.patience = patience;
  }

  /** Returns the error for the workers that wait for a session. */
  KeeperException.Rejected refusal(String sessionId) {
    return new KeeperException.Rejected(
        "A session of queue "
            + queue.name
            + " has the id \""
            + sessionId.replaceAll("\\p{Cntrl}", "?")
            + "\", which is blank, too long or has control characters; its messages are dead letters now");
  }

  void setAside(ServiceBusReceiverAsyncClient receiver) throws InterruptedException {
    var error = String.valueOf(refusal(receiver.getSessionId()).getMessage());
    var inbox = new Inbox();
    try {
      receiver.receiveMessages().subscribe(inbox);
      inbox.want(AT_ONCE);
      while (inbox.peek(QUIET).isPresent()) {
        deadLetter(receiver, inbox.poll().orElseThrow(), error);
        inbox.want(AT_ONCE);
      }
      log.warn("{}", error);
    } catch (ExecutionException | TimeoutException e) {
      log.warn("{}; not all of them yet", error, e);
    } finally {
      receiver.close();
      inbox.cancel();
    }
  }

  private void deadLetter(
      ServiceBusReceiverAsyncClient receiver, ServiceBusReceivedMessage message, String error)
      throws InterruptedException, ExecutionException, TimeoutException {
    var options =
        new DeadLetterOptions()
            .setDeadLetterReason(REASON)
            .setDeadLetterErrorDescription(error)
            .setPropertiesToModify(queue.deadLetterProperties(message, 0));
    receiver
        .deadLetter(message, options)
        .toFuture()
        .get(patience.toMillis(), TimeUnit.MILLISECONDS);
  }
}
