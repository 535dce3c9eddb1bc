package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.time.TimeSource;
import java.util.Map;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Environment variables can direct the tests of this module to another SQS. */
@Tag("slow")
class RunElsewhereTest {

  @Test
  void theTestsUseTheSqsOfTheEnvironment() {
    // The SDK looks for credentials here; the test server accepts any.
    System.setProperty("aws.accessKeyId", "any");
    System.setProperty("aws.secretAccessKey", "any");
    var elsewhere = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    int port = elsewhere.waitUntilStarted().localAddress().getPort();
    var environment =
        Map.of(TestSqs.REGION, "us-east-1", TestSqs.ENDPOINT, "http://127.0.0.1:" + port);
    try (var sqs = TestSqs.start(environment);
        var provider = sqs.provider(TimeSource.system(), new MemorySessionStateStore())) {
      assertThat(sqs.isElsewhere()).isTrue();
      provider.declare(QueueName.of("contract-elsewhere"), QueueSettings.ordered());
      assertThat(sqs.client().listQueues().queueUrls())
          .anyMatch(url -> url.contains(":" + port) && url.endsWith("/contract-elsewhere.fifo"));
    } finally {
      elsewhere.stopAndWait();
    }
  }

  @Test
  void withoutThemTheTestsHaveASqsOfTheirOwn() {
    try (var sqs = TestSqs.start(Map.of())) {
      assertThat(sqs.isElsewhere()).isFalse();
    }
  }
}
