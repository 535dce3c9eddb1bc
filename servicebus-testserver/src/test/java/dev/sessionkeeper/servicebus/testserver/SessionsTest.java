package dev.sessionkeeper.servicebus.testserver;

import static dev.sessionkeeper.servicebus.testserver.SdkClients.bodies;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.message;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.receive;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.receiveOne;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.azure.core.amqp.exception.AmqpException;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionsTest {
  private ServiceBusTestServer server;
  private SdkClients clients;

  @BeforeEach
  void start() {
    server = ServiceBusTestServer.start().declare("q", QueueOptions.withSessions());
    clients = new SdkClients(server);
  }

  @AfterEach
  void stop() {
    clients.close();
    server.close();
  }

  @Test
  void aSessionIsReceivedInOrderAndSettledEachWay() {
    clients
        .sender("q")
        .sendMessages(
            List.of(
                message("A", "a0"),
                message("B", "b0"),
                message("A", "a1"),
                message("A", "a2"),
                message("A", "a3")));
    var session = clients.sessions("q").acceptSession("A");

    var got = receive(session, 4);
    assertThat(bodies(got)).containsExactly("a0", "a1", "a2", "a3");
    assertThat(got.get(0).getSequenceNumber()).isLessThan(got.get(3).getSequenceNumber());
    session.complete(got.get(0));
    session.abandon(got.get(1));
    session.deadLetter(got.get(2), new DeadLetterOptions().setDeadLetterReason("bad"));
    session.defer(got.get(3));

    var again = receiveOne(session);
    assertThat(again.getBody()).hasToString("a1");
    assertThat(again.getDeliveryCount()).isEqualTo(1);
    session.complete(again);
    session.complete(session.receiveDeferredMessage(got.get(3).getSequenceNumber()));

    var dead = receiveOne(clients.deadLetters("q"));
    assertThat(dead.getBody()).hasToString("a2");
    assertThat(dead.getDeadLetterReason()).isEqualTo("bad");
    assertThat(dead.getSessionId()).isEqualTo("A");
    assertThat(dead.getEnqueuedSequenceNumber()).isEqualTo(got.get(2).getSequenceNumber());
    assertThat(server.depth("q")).isEqualTo(1);
  }

  @Test
  void aHeldSessionIsRefusedToOthersAndFreeAfterClose() {
    clients.sender("q").sendMessage(message("A", "a0"));
    var first = clients.sessions("q").acceptSession("A");
    var other = clients.sessions("q");

    assertThatThrownBy(() -> other.acceptSession("A")).isInstanceOf(AmqpException.class);

    first.close();
    await().until(() -> server.heldSessions("q") == 0);
    assertThat(receiveOne(other.acceptNextSession()).getDeliveryCount()).isZero();
  }

  @Test
  void aWaitForASessionEndsWithATimeoutOrWithTheNextSend() {
    var sessions = clients.sessions("q");
    assertThatThrownBy(sessions::acceptNextSession).hasMessageContaining("timeout");

    var sender = clients.sender("q");
    Thread.startVirtualThread(() -> sender.sendMessage(message("W", "w0")));
    assertThat(sessions.acceptNextSession().getSessionId()).isEqualTo("W");
  }

  @Test
  void theHolderReadsAndWritesTheStateAndRenewsTheLock() {
    clients.sender("q").sendMessage(message("A", "a0"));
    var session = clients.sessions("q").acceptSession("A");

    assertThat(session.getSessionState()).isNull();
    session.setSessionState("here ✓".getBytes(StandardCharsets.UTF_8));
    assertThat(session.getSessionState()).asString(StandardCharsets.UTF_8).isEqualTo("here ✓");
    session.setSessionState(null);
    assertThat(session.getSessionState()).isNull();
    assertThat(session.renewSessionLock()).isAfter(OffsetDateTime.now(ZoneOffset.UTC));
  }

  @Test
  void anExpiredLockIsTerminalAndCountsADelivery() {
    clients.sender("q").sendMessage(message("A", "a0"));
    var late = clients.sessions("q").acceptSession("A");
    var inHand = receiveOne(late);

    assertThat(server.faults().expireSessionLocks("q")).isEqualTo(1);

    assertThatThrownBy(() -> late.complete(inHand)).isInstanceOf(ServiceBusException.class);
    assertThatThrownBy(late::renewSessionLock)
        .isInstanceOfSatisfying(
            ServiceBusException.class,
            e -> assertThat(e.getReason()).isEqualTo(ServiceBusFailureReason.SESSION_LOCK_LOST));
    var next = receiveOne(clients.sessions("q").acceptNextSession());
    assertThat(next.getDeliveryCount()).isEqualTo(1);
  }

  @Test
  void aMessageWithoutSessionIsRefused() {
    var sender = clients.sender("q");
    assertThatThrownBy(() -> sender.sendMessage(new ServiceBusMessage("x")))
        .isInstanceOf(ServiceBusException.class);
    assertThat(server.depth("q")).isZero();
  }

  @Test
  void anAbandonedMessageBecomesADeadLetterAtTheBrokersLimit() {
    server.declare("q", QueueOptions.withSessions().maxDeliveryCount(2));
    clients.sender("q").sendMessage(message("M", "m0"));
    var session = clients.sessions("q").acceptSession("M");
    session.abandon(receiveOne(session));
    session.abandon(receiveOne(session));

    assertThat(receiveOne(clients.deadLetters("q")).getDeadLetterReason())
        .isEqualTo("MaxDeliveryCountExceeded");
  }

  @Test
  void anEmptySessionLeavesNothingBehind() {
    clients.sender("q").sendMessage(message("A", "a0"));
    var session = clients.sessions("q").acceptSession("A");
    session.complete(receiveOne(session));
    session.close();

    await().until(() -> server.knownSessions("q") == 0);
  }
}
