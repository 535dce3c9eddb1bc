package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusMessageBatch;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends messages in as few transfers as possible, one after the other.
 *
 * <p>A transfer is stored as a whole or not at all. When one fails, no later one is sent, so no
 * message overtakes another. The broker tells senders neither sequence numbers, which are 0 here,
 * nor duplicates; this process knows the duplicates of its own sends.
 */
final class SendMessages {
  private final QueueName queue;
  private final ServiceBusSenderClient sender;
  private final RecentIds recent;

  SendMessages(QueueName queue, ServiceBusSenderClient sender, RecentIds recent) {
    this.queue = queue;
    this.sender = sender;
    this.recent = recent;
  }

  List<SendOutcome> send(List<Message> messages, QueueMode mode) {
    var encoded = messages.stream().map(message -> MessageCodec.encode(message, mode)).toList();
    var outcomes = new ArrayList<SendOutcome>();
    int next = 0;
    while (next < encoded.size()) {
      int end;
      try {
        end = sendSome(encoded, next);
      } catch (KeeperException e) {
        // If the answer of a transfer was lost, none of its messages may be reported as refused.
        if (next == 0 || e instanceof KeeperException.OutcomeUnknown) {
          throw e;
        }
        refuseRest(messages.subList(next, messages.size()), e, outcomes);
        return outcomes;
      }
      for (var message : messages.subList(next, end)) {
        outcomes.add(outcomeOf(message.id()));
      }
      next = end;
    }
    return outcomes;
  }

  private int sendSome(List<ServiceBusMessage> messages, int from) {
    var batch = emptyBatch();
    if (messages.size() - from == 1) {
      transfer(() -> sender.sendMessage(messages.get(from)));
      return messages.size();
    }
    int end = from;
    while (end < messages.size() && batch.tryAddMessage(messages.get(end))) {
      end++;
    }
    if (end == from) {
      throw new KeeperException.Rejected(
          "Message " + messages.get(from).getMessageId() + " is larger than Service Bus takes");
    }
    transfer(() -> sender.sendMessages(batch));
    return end;
  }

  /**
   * Creates an empty batch. The broker tells its largest size, so this may fail before anything was
   * sent.
   */
  private ServiceBusMessageBatch emptyBatch() {
    try {
      return sender.createMessageBatch();
    } catch (RuntimeException e) {
      throw Translate.error(queue, e);
    }
  }

  private void transfer(Runnable sending) {
    try {
      sending.run();
    } catch (RuntimeException e) {
      throw Translate.afterSending(queue, "A send to queue " + queue, e);
    }
  }

  private SendOutcome outcomeOf(MessageId id) {
    return recent.add(id) ? new SendOutcome.Stored(id, 0) : new SendOutcome.Duplicate(id, 0);
  }

  private static void refuseRest(
      List<Message> rest, KeeperException error, List<SendOutcome> outcomes) {
    for (var message : rest) {
      outcomes.add(new SendOutcome.Refused(message.id(), String.valueOf(error.getMessage())));
    }
  }
}
