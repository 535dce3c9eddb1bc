package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import dev.sessionkeeper.time.TimeSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Environment variables can direct the tests of this module to another broker. */
@Tag("slow")
class RunElsewhereTest {

  @Test
  void theTestsUseTheNamespaceOfTheEnvironment() {
    try (var elsewhere = ServiceBusTestServer.start()) {
      var environment =
          Map.of(
              TestBroker.ADDRESS, elsewhere.connectionString(),
              TestBroker.ADMINISTRATION, elsewhere.administrationEndpoint().toString());
      try (var broker = TestBroker.start(environment);
          var provider = broker.provider(TimeSource.system())) {
        assertThat(broker.isElsewhere()).isTrue();
        var queue = QueueName.of("contract-elsewhere");
        provider.declare(queue, QueueSettings.ordered());
        provider.send(queue, List.of(Message.of(SessionId.of("s"), Payload.text("m"))));
        assertThat(elsewhere.depth("contract-elsewhere")).isEqualTo(1);
      }
    }
  }

  @Test
  void withoutThemTheTestsHaveABrokerOfTheirOwn() {
    try (var broker = TestBroker.start(Map.of())) {
      assertThat(broker.isElsewhere()).isFalse();
    }
  }
}
