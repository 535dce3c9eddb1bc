package dev.sessionkeeper.spring;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import java.util.List;

/** Sends messages, at once or with the caller's transaction. */
@FunctionalInterface
public interface MessageSender {

  /** Sends messages as {@link dev.sessionkeeper.spi.QueueProvider#send(QueueName, List)} does. */
  List<SendOutcome> send(QueueName queue, List<Message> messages);
}
