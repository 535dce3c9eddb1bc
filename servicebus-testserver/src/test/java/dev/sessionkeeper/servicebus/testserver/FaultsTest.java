package dev.sessionkeeper.servicebus.testserver;

import static dev.sessionkeeper.servicebus.testserver.SdkClients.bodies;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.message;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.receive;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.receiveOne;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class FaultsTest {
  private ServiceBusTestServer server;
  private SdkClients clients;

  @BeforeEach
  void start() {
    server =
        ServiceBusTestServer.start()
            .declare("q", QueueOptions.withSessions())
            .declare("dd", QueueOptions.withSessions().duplicateWindow(Duration.ofMinutes(10)));
    clients = new SdkClients(server);
  }

  @AfterEach
  void stop() {
    clients.close();
    server.close();
  }

  @Test
  void aCutConnectionFreesTheSessionAndTheSenderRecovers() {
    var sender = clients.sender("q");
    sender.sendMessage(message("A", "a0"));
    var late = clients.sessions("q").acceptSession("A");
    assertThat(receiveOne(late).getBody()).hasToString("a0");

    server.faults().dropConnections();

    assertThat(server.heldSessions("q")).isZero();
    sender.sendMessage(message("A", "a1"));
    var next = clients.sessions("q").acceptNextSession();
    var again = receive(next, 2);
    assertThat(bodies(again)).containsExactly("a0", "a1");
    assertThat(again.get(0).getDeliveryCount()).isZero();
  }

  @Test
  void aTransferCanBeStoredTwiceUnlessDuplicatesAreDetected() {
    server.faults().duplicateSends(1);
    clients.sender("q").sendMessage(message("A", "a0").setMessageId("1"));
    assertThat(server.depth("q")).isEqualTo(2);

    server.faults().duplicateSends(1);
    clients.sender("dd").sendMessage(message("A", "a0").setMessageId("1"));
    assertThat(server.depth("dd")).isEqualTo(1);
  }

  @Test
  void aLostAcknowledgementMakesTheSdkSendAgain() {
    var sender = clients.sender("q");
    sender.sendMessage(message("A", "a0"));
    server.faults().loseAcknowledgements(1);
    sender.sendMessage(message("A", "a1"));

    assertThat(bodies(receive(clients.sessions("q").acceptNextSession(), 3)))
        .containsExactly("a0", "a1", "a1");
  }

  @Test
  void repliesCanBeDelayed() {
    var sender = clients.sender("q");
    sender.sendMessage(message("A", "a0"));
    server.faults().delayReplies(Duration.ofMillis(300));
    long started = System.nanoTime();
    sender.sendMessage(message("A", "a1"));
    assertThat(Duration.ofNanos(System.nanoTime() - started)).isGreaterThan(Duration.ofMillis(290));

    server.faults().delayReplies(Duration.ZERO);
    assertThat(bodies(receive(clients.sessions("q").acceptNextSession(), 2)))
        .containsExactly("a0", "a1");
  }
}
