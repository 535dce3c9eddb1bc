package dev.sessionkeeper.sqs;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.CountableQueues.Counts;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.RemovableQueues.Part;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Supplier;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Counts, purges and deletes one queue of SQS. The counts are SQS's own estimates. */
final class RemoveQueue {
  private final SqsClient client;
  private final QueueName queue;
  private final DescribeQueues.Found found;

  RemoveQueue(SqsClient client, QueueName queue, DescribeQueues.Found found) {
    this.client = client;
    this.queue = queue;
    this.found = found;
  }

  Counts counts() {
    return call(
        () -> {
          var own = numbers(found.url());
          var dead = found.deadLettersUrl().map(this::numbers).map(Numbers::all).orElse(0L);
          return new Counts(own.all(), OptionalLong.of(own.inFlight()), dead);
        });
  }

  /**
   * Purges a part of the queue.
   *
   * @param letters opens the dead letters, which may share one SQS queue with those of other queues
   */
  long purge(Part part, Supplier<SqsDeadLetters> letters) {
    return switch (part) {
      case MESSAGES -> purge(found.url());
      case DEAD_LETTERS ->
          found.isShared()
              ? letters.get().discard(new Selection.All())
              : found.deadLettersUrl().map(this::purge).orElse(0L);
    };
  }

  private long purge(String url) {
    return call(
        () -> {
          long estimate = numbers(url).all();
          client.purgeQueue(request -> request.queueUrl(url));
          return estimate;
        });
  }

  /** Deletes the queue, and its dead-letter queue unless other queues use it too. */
  void delete() {
    call(
        () -> {
          client.deleteQueue(request -> request.queueUrl(found.url()));
          if (!found.isShared()) {
            found
                .deadLettersUrl()
                .ifPresent(url -> client.deleteQueue(request -> request.queueUrl(url)));
          }
          return true;
        });
  }

  private record Numbers(long waiting, long delayed, long inFlight) {
    long all() {
      return waiting + delayed + inFlight;
    }
  }

  private Numbers numbers(String url) {
    var attributes =
        client
            .getQueueAttributes(
                request ->
                    request
                        .queueUrl(url)
                        .attributeNames(
                            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED,
                            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
            .attributes();
    return new Numbers(
        number(attributes, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES),
        number(attributes, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED),
        number(attributes, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE));
  }

  private static long number(Map<QueueAttributeName, String> attributes, QueueAttributeName name) {
    return Long.parseLong(attributes.getOrDefault(name, "0"));
  }

  private <T> T call(Supplier<T> request) {
    try {
      return request.get();
    } catch (SdkException e) {
      throw SqsCalls.translate(queue, e);
    }
  }
}
