package dev.sessionkeeper.benchmarks;

import dev.sessionkeeper.sqs.SqsQueueProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** SQS: the provider, and the SDK with batches of ten. */
final class SqsArms {
  private static final int BATCH = 10;

  private SqsArms() {}

  static List<Arm> on(SqsClient client, int burst) {
    var url =
        client
            .createQueue(
                request ->
                    request
                        .queueName("bare.fifo")
                        .attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true")))
            .queueUrl();
    return List.of(
        new DrainProvider("our provider", SqsQueueProvider.create(client), BATCH, burst),
        new Bare(client, url, burst));
  }

  private record Bare(SqsClient client, String url, int burst) implements Arm {
    @Override
    public String name() {
      return "bare AWS SDK";
    }

    @Override
    public Took run(Load load) {
      for (int from = 0; from < load.messages(); from += 10) {
        var batch = new ArrayList<SendMessageBatchRequestEntry>();
        for (int i = from; i < Math.min(from + 10, load.messages()); i++) {
          batch.add(
              SendMessageBatchRequestEntry.builder()
                  .id("" + i)
                  .messageBody("m" + i)
                  .messageGroupId("s" + i / burst % load.sessions())
                  .messageDeduplicationId(UUID.randomUUID().toString())
                  .build());
        }
        client.sendMessageBatch(request -> request.queueUrl(url).entries(batch));
      }
      var started = Took.now();
      int done = 0;
      while (done < load.messages()) {
        var messages =
            client
                .receiveMessage(
                    request -> request.queueUrl(url).maxNumberOfMessages(10).waitTimeSeconds(1))
                .messages();
        var entries =
            messages.stream()
                .map(
                    message ->
                        DeleteMessageBatchRequestEntry.builder()
                            .id(message.messageId())
                            .receiptHandle(message.receiptHandle())
                            .build())
                .toList();
        if (!entries.isEmpty()) {
          client.deleteMessageBatch(request -> request.queueUrl(url).entries(entries));
          done += entries.size();
        }
      }
      return started.since();
    }
  }
}
