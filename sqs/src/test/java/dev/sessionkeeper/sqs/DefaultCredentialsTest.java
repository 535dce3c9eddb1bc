package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * A client without credentials, region or address of its own: AWS's default chain provides them.
 */
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SQS_REGION", matches = ".+")
class DefaultCredentialsTest {

  @Test
  @ResourceLock(Resources.SYSTEM_PROPERTIES)
  void theDefaultChainOfAwsIsEnough() {
    try (var sqs = TestSqs.start()) {
      var chain =
          Map.of(
              "aws.accessKeyId", "default",
              "aws.secretAccessKey", "any",
              "aws.region", "us-east-1",
              "aws.endpointUrlSqs", "http://127.0.0.1:" + sqs.port());
      chain.forEach(System::setProperty);
      try (var client = SqsClient.create();
          var provider = SqsQueueProvider.create(client)) {
        var queue = QueueName.of("orders");
        provider.declare(queue, QueueSettings.ordered());
        assertThat(provider.send(queue, List.of(Message.of(SessionId.of("a"), Payload.text("x")))))
            .singleElement()
            .isInstanceOf(SendOutcome.Stored.class);
      } finally {
        chain.keySet().forEach(System::clearProperty);
      }
    }
  }
}
