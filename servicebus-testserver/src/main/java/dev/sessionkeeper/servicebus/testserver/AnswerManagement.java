package dev.sessionkeeper.servicebus.testserver;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.qpid.proton.Proton;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.messaging.Accepted;
import org.apache.qpid.proton.amqp.messaging.AmqpValue;
import org.apache.qpid.proton.amqp.messaging.ApplicationProperties;
import org.apache.qpid.proton.engine.Delivery;
import org.apache.qpid.proton.engine.Sender;
import org.apache.qpid.proton.message.Message;

/**
 * The request and reply nodes: {@code $cbs}, which accepts every token, and the management node of
 * each queue. Event loop only.
 */
final class AnswerManagement {
  private final Broker broker;
  private final InstantSource clock;

  AnswerManagement(Broker broker, InstantSource clock) {
    this.broker = broker;
    this.clock = clock;
  }

  /** Answers a request and returns its operation. */
  String answer(String address, byte[] transfer, Delivery delivery, Sender replies) {
    delivery.disposition(Accepted.getInstance());
    delivery.settle();
    var request = Wire.decode(transfer, 0).get(0);
    var properties = new HashMap<String, Object>();
    Map<String, Object> body = Map.of();
    var asked = new ManagementRequest(request);
    try {
      if (!address.equals(Wire.CBS)) {
        body = operate(address, asked);
      }
      properties.put("statusCode", body.isEmpty() && isPeek(asked) ? 204 : 200);
      properties.put("statusDescription", "OK");
    } catch (ManagementRefusal refusal) {
      properties.put("statusCode", refusal.status);
      properties.put("statusDescription", refusal.condition);
      properties.put("errorCondition", Symbol.valueOf(refusal.condition));
    }
    reply(replies, request, properties, body);
    return asked.operation();
  }

  private static boolean isPeek(ManagementRequest request) {
    return request.operation().equals("com.microsoft:peek-message");
  }

  private Map<String, Object> operate(String address, ManagementRequest request)
      throws ManagementRefusal {
    var queue =
        broker.find(address).orElseThrow(() -> ManagementRefusal.notFound("amqp:not-found"));
    var sessions = new SessionOperations(queue, request, clock);
    var messages = new MessageOperations(queue, request, clock);
    return switch (request.operation()) {
      case "com.microsoft:renew-session-lock" -> sessions.renew();
      case "com.microsoft:get-session-state" -> sessions.getState();
      case "com.microsoft:set-session-state" -> sessions.setState();
      case "com.microsoft:renew-lock" -> messages.renewLocks();
      case "com.microsoft:peek-message" -> messages.peek();
      case "com.microsoft:receive-by-sequence-number" -> messages.receiveDeferred();
      case "com.microsoft:update-disposition" -> messages.settle();
      case "com.microsoft:schedule-message" -> messages.schedule();
      case "com.microsoft:cancel-scheduled-message" -> messages.cancelScheduled();
      default -> throw ManagementRefusal.notImplemented(request.operation());
    };
  }

  private static void reply(
      Sender link, Message request, Map<String, Object> properties, Map<String, Object> body) {
    var reply = Proton.message();
    reply.setCorrelationId(request.getMessageId());
    reply.setApplicationProperties(new ApplicationProperties(properties));
    reply.setBody(new AmqpValue(body));
    var bytes = Wire.encode(reply);
    var delivery = link.delivery(Wire.guid(UUID.randomUUID()));
    link.send(bytes, 0, bytes.length);
    delivery.settle();
    link.advance();
  }
}
