package dev.sessionkeeper.servicebus.testserver;

import java.time.InstantSource;
import java.util.List;
import org.apache.qpid.proton.amqp.messaging.Accepted;
import org.apache.qpid.proton.amqp.messaging.Rejected;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.apache.qpid.proton.engine.Delivery;
import org.apache.qpid.proton.message.Message;

/** Stores a client's transfer as a whole, or not at all. Event loop only. */
final class TakeMessages {
  private final Broker broker;
  private final Faults faults;
  private final InstantSource clock;
  private final Runnable dropConnection;

  TakeMessages(Broker broker, Faults faults, InstantSource clock, Runnable dropConnection) {
    this.broker = broker;
    this.faults = faults;
    this.clock = clock;
    this.dropConnection = dropConnection;
  }

  void take(String address, byte[] transfer, Delivery delivery) {
    var targets = broker.targets(address);
    if (targets.isEmpty()) {
      reject(delivery, "There is no queue " + address);
      return;
    }
    var messages = Wire.decode(transfer, delivery.getMessageFormat());
    if (targets.get(0).requiresSession() && anyWithoutSession(messages)) {
      reject(delivery, "The SessionId was not set on a message of a queue that requires sessions");
      return;
    }
    int copies = faults.takeDuplicateSend() ? 2 : 1;
    for (int copy = 0; copy < copies; copy++) {
      for (var queue : targets) {
        for (var message : Wire.decode(transfer, delivery.getMessageFormat())) {
          queue.put(message, clock.millis());
        }
      }
    }
    if (faults.takeLostAcknowledgement()) {
      dropConnection.run();
    } else {
      delivery.disposition(Accepted.getInstance());
      delivery.settle();
    }
    targets.forEach(broker::wake);
  }

  private static boolean anyWithoutSession(List<Message> messages) {
    return messages.stream().anyMatch(message -> message.getGroupId() == null);
  }

  private static void reject(Delivery delivery, String why) {
    var rejected = new Rejected();
    rejected.setError(new ErrorCondition(Wire.NOT_ALLOWED, why));
    delivery.disposition(rejected);
    delivery.settle();
  }
}
