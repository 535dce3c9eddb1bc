package dev.sessionkeeper.servicebus.testserver;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.UnsignedLong;
import org.apache.qpid.proton.amqp.messaging.Source;
import org.apache.qpid.proton.amqp.messaging.Target;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;
import org.apache.qpid.proton.engine.Delivery;
import org.apache.qpid.proton.engine.EndpointState;
import org.apache.qpid.proton.engine.Link;
import org.apache.qpid.proton.engine.Receiver;
import org.apache.qpid.proton.engine.Sender;

/** The links of one connection, and the node that answers each. Event loop only. */
final class AnswerLinks {
  private static final int CREDIT = 1000;

  private final Broker broker;
  private final Faults faults;
  private final InstantSource clock;
  private final Runnable dropConnection;
  private final AnswerManagement management;
  private final Map<String, Sender> replyLinks = new HashMap<>();
  private final List<ReceiverLink> receiverLinks = new ArrayList<>();

  AnswerLinks(Broker broker, Faults faults, InstantSource clock, Runnable dropConnection) {
    this.broker = broker;
    this.faults = faults;
    this.clock = clock;
    this.dropConnection = dropConnection;
    this.management = new AnswerManagement(broker, clock);
  }

  void attached(Link link) {
    if (link instanceof Receiver receiver) {
      attachedToSend(receiver);
    } else {
      attachedToReceive((Sender) link);
    }
  }

  /** Handles a client that sends: to a queue, or requests to a node. */
  private void attachedToSend(Receiver link) {
    var address = ((Target) link.getRemoteTarget()).getAddress();
    if (!Wire.isNode(address) && broker.targets(address).isEmpty()) {
      refuse(link, Wire.NOT_FOUND, notFound(address));
      return;
    }
    link.setSource(link.getRemoteSource());
    link.setTarget(link.getRemoteTarget());
    link.setSenderSettleMode(link.getRemoteSenderSettleMode());
    link.setMaxMessageSize(UnsignedLong.valueOf(Wire.MAX_MESSAGE_BYTES));
    link.setContext(address);
    link.open();
    link.flow(CREDIT);
  }

  /**
   * Handles a client that receives: replies of a node, messages of a queue, or those of a session.
   */
  private void attachedToReceive(Sender link) {
    var source = (Source) link.getRemoteSource();
    link.setTarget(link.getRemoteTarget());
    link.setSenderSettleMode(link.getRemoteSenderSettleMode());
    link.setReceiverSettleMode(link.getRemoteReceiverSettleMode());
    if (Wire.isNode(source.getAddress())) {
      link.setSource(source);
      link.open();
      replyLinks.put(source.getAddress(), link);
      return;
    }
    var queue = broker.find(source.getAddress());
    if (queue.isEmpty()) {
      refuse(link, Wire.NOT_FOUND, notFound(source.getAddress()));
      return;
    }
    var receiver = new ReceiverLink(link, queue.get(), clock);
    link.setContext(receiver);
    receiverLinks.add(receiver);
    receiver.attach();
  }

  void detached(Link link) {
    if (link.getContext() instanceof ReceiverLink receiver) {
      receiverLinks.remove(receiver);
      receiver.gone();
    }
    if (link.getLocalState() != EndpointState.CLOSED) {
      link.close();
    }
    link.free();
  }

  void flowed(Link link) {
    if (link.getContext() instanceof ReceiverLink receiver) {
      receiver.pump();
    }
  }

  void delivered(Link link, Delivery delivery) {
    if (link instanceof Receiver receiver) {
      received(receiver, delivery);
    } else if (link.getContext() instanceof ReceiverLink receiver) {
      if (receiver.settled(delivery) && faults.takeLostSettlement()) {
        dropConnection.run();
      }
    }
  }

  private void received(Receiver link, Delivery delivery) {
    if (!delivery.isReadable() || delivery.isPartial()) {
      return;
    }
    var transfer = new byte[delivery.pending()];
    link.recv(transfer, 0, transfer.length);
    link.advance();
    if (link.getCredit() < CREDIT / 10) {
      link.flow(CREDIT - link.getCredit());
    }
    var address = (String) link.getContext();
    if (Wire.isNode(address)) {
      var reply = replyLinks.get(address);
      if (reply != null) {
        var operation = management.answer(address, transfer, delivery, reply);
        if (faults.takeLostReply(operation)) {
          dropConnection.run();
        }
      }
    } else {
      new TakeMessages(broker, faults, clock, dropConnection).take(address, transfer, delivery);
    }
  }

  void allGone() {
    List.copyOf(receiverLinks).forEach(ReceiverLink::gone);
    receiverLinks.clear();
  }

  /** Returns the error text of a missing queue, which the SDK recognises word by word. */
  private static String notFound(String address) {
    return "The messaging entity '" + address + "' could not be found";
  }

  /**
   * Refuses a link. AMQP does this by attaching it without an address and detaching it with the
   * reason.
   */
  static void refuse(Link link, Symbol condition, String description) {
    link.setSource(null);
    if (link instanceof Receiver) {
      link.setTarget(null);
    }
    link.open();
    link.setCondition(new ErrorCondition(condition, description));
    link.close();
  }
}
