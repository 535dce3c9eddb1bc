package dev.sessionkeeper.spring;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import java.util.List;

/** Sends messages: at once, or with the transaction of the caller. */
@FunctionalInterface
public interface MessageSender {

  /** As {@link dev.sessionkeeper.spi.QueueProvider#send(QueueName, List)}. */
  List<SendOutcome> send(QueueName queue, List<Message> messages);
}
