package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/**
 * ElasticMQ's FIFO queue over HTTP with the AWS SDK, in this process: 16 threads that receive ten
 * messages, handle them and delete them in one call, waiting for up to a second; sends are calls of
 * ten. The key is the message group. Bodies are text: 192 bytes as Base64.
 *
 * <p>It keeps messages in memory.
 */
final class ElasticMqArm implements Arm {
  private static final int WORKERS = 16;
  private static final int TEXT_OF = 192;

  private final SQSRestServer server;
  private final SqsClient client;
  private final String url;
  private final AtomicLong ids = new AtomicLong();
  private final List<Thread> workers = new ArrayList<>();
  private volatile boolean isConsuming;

  private ElasticMqArm(SQSRestServer server, SqsClient client, String url) {
    this.server = server;
    this.client = client;
    this.url = url;
  }

  static ElasticMqArm open() {
    var server = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    int port = server.waitUntilStarted().localAddress().getPort();
    var client =
        SqsClient.builder()
            .endpointOverride(URI.create("http://127.0.0.1:" + port))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "any")))
            .httpClient(Apache5HttpClient.builder().maxConnections(2 * WORKERS).build())
            .build();
    var url =
        client
            .createQueue(
                request ->
                    request
                        .queueName("bench.fifo")
                        .attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true")))
            .queueUrl();
    return new ElasticMqArm(server, client, url);
  }

  @Override
  public Producer producer() {
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) {
        var entries = new ArrayList<SendMessageBatchRequestEntry>(sessions.length);
        for (int i = 0; i < sessions.length; i++) {
          entries.add(
              SendMessageBatchRequestEntry.builder()
                  .id(Integer.toString(i))
                  .messageBody(text(bodies[i]))
                  .messageGroupId("customer-" + sessions[i])
                  .messageDeduplicationId(Long.toString(ids.incrementAndGet()))
                  .build());
        }
        client.sendMessageBatch(request -> request.queueUrl(url).entries(entries));
      }

      @Override
      public void close() {}
    };
  }

  private static String text(byte[] body) {
    return Base64.getEncoder().encodeToString(java.util.Arrays.copyOf(body, TEXT_OF));
  }

  @Override
  public void consume(Load load) {
    isConsuming = true;
    for (int i = 0; i < WORKERS; i++) {
      workers.add(Thread.ofPlatform().daemon().start(() -> work(load)));
    }
  }

  private void work(Load load) {
    while (isConsuming) {
      var messages =
          client
              .receiveMessage(
                  request -> request.queueUrl(url).maxNumberOfMessages(10).waitTimeSeconds(1))
              .messages();
      var done = new ArrayList<DeleteMessageBatchRequestEntry>(messages.size());
      for (var message : messages) {
        load.handle(Base64.getDecoder().decode(message.body()));
        done.add(
            DeleteMessageBatchRequestEntry.builder()
                .id(Integer.toString(done.size()))
                .receiptHandle(message.receiptHandle())
                .build());
      }
      if (!done.isEmpty()) {
        client.deleteMessageBatch(request -> request.queueUrl(url).entries(done));
      }
    }
  }

  @Override
  public void stopConsuming() {
    isConsuming = false;
    try {
      for (var worker : workers) {
        worker.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    workers.clear();
  }

  @Override
  public void close() {
    stopConsuming();
    client.close();
    server.stopAndWait();
  }
}
