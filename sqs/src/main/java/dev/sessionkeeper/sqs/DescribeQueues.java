package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;

/**
 * Creates, changes and finds queues, each with its dead-letter queue. Settings that SQS does not
 * have are tags.
 *
 * <p>Messages are retained for as long as SQS can, 14 days: their time to live is ours, because
 * what SQS drops is gone. Its own redrive is a safety net at a thousand receives: it counts
 * batch-mates, and gives no reason.
 */
final class DescribeQueues {
  private static final Duration RETENTION = Duration.ofDays(14);
  private static final String SAFETY_NET = "1000";
  private static final String TAG = "sessionkeeper-";

  private final SqsClient client;
  private final QueueNames names;
  private final String prefix;

  DescribeQueues(SqsClient client, String prefix) {
    this.client = client;
    this.names = new QueueNames(prefix);
    this.prefix = prefix;
  }

  /** Where a queue and its dead letters are. */
  record Found(String url, String deadLettersUrl, QueueMode mode) {}

  Optional<Found> find(QueueName queue) {
    for (var mode : QueueMode.values()) {
      var url = urlOf(queue, names.nameOf(queue, mode));
      var dead = urlOf(queue, names.deadLettersOf(queue, mode));
      if (url.isPresent() && dead.isPresent()) {
        return Optional.of(new Found(url.get(), dead.get(), mode));
      }
    }
    return Optional.empty();
  }

  private Optional<String> urlOf(QueueName queue, String name) {
    try {
      return Optional.of(client.getQueueUrl(request -> request.queueName(name)).queueUrl());
    } catch (QueueDoesNotExistException e) {
      return Optional.empty();
    } catch (SdkException e) {
      throw SqsCalls.translate(queue, e);
    }
  }

  boolean declare(QueueName queue, QueueSettings settings) {
    requirePossible(queue, settings);
    var existing = find(queue);
    try {
      if (existing.isPresent()) {
        change(queue, existing.get(), settings);
        return false;
      }
      create(queue, settings);
      return true;
    } catch (SdkException e) {
      throw SqsCalls.translate(queue, e);
    }
  }

  private static void requirePossible(QueueName queue, QueueSettings settings) {
    if (settings.messageTtl().compareTo(RETENTION) > 0) {
      throw new KeeperException.Misconfigured(
          "Queue "
              + queue
              + ": messageTtl must be at most "
              + RETENTION
              + " on SQS, was "
              + settings.messageTtl());
    }
    if (settings.poisonPolicy() == PoisonPolicy.PARK_SESSION) {
      throw new KeeperException.NotSupported("sqs", "park a session");
    }
  }

  private void create(QueueName queue, QueueSettings settings) {
    var dead =
        client
            .createQueue(
                request ->
                    request
                        .queueName(names.deadLettersOf(queue, settings.mode()))
                        .attributes(attributes(settings)))
            .queueUrl();
    var arn =
        client
            .getQueueAttributes(
                request -> request.queueUrl(dead).attributeNames(QueueAttributeName.QUEUE_ARN))
            .attributes()
            .get(QueueAttributeName.QUEUE_ARN);
    var attributes = attributes(settings);
    attributes.put(
        QueueAttributeName.REDRIVE_POLICY,
        "{\"deadLetterTargetArn\":\"" + arn + "\",\"maxReceiveCount\":\"" + SAFETY_NET + "\"}");
    client.createQueue(
        request ->
            request
                .queueName(names.nameOf(queue, settings.mode()))
                .attributes(attributes)
                .tags(tags(queue, settings)));
  }

  private static Map<QueueAttributeName, String> attributes(QueueSettings settings) {
    var attributes = new HashMap<QueueAttributeName, String>();
    attributes.put(
        QueueAttributeName.VISIBILITY_TIMEOUT,
        Integer.toString(SqsQueue.seconds(settings.lockDuration())));
    attributes.put(
        QueueAttributeName.MESSAGE_RETENTION_PERIOD, Long.toString(RETENTION.toSeconds()));
    if (settings.mode() == QueueMode.ORDERED) {
      attributes.put(QueueAttributeName.FIFO_QUEUE, "true");
      attributes.put(QueueAttributeName.CONTENT_BASED_DEDUPLICATION, "false");
    }
    return attributes;
  }

  private void change(QueueName queue, Found existing, QueueSettings settings) {
    if (existing.mode() != settings.mode()) {
      throw new KeeperException.QueueConflict(queue, existing.mode());
    }
    if (settings(existing).equals(settings)) {
      return;
    }
    client.setQueueAttributes(
        request ->
            request
                .queueUrl(existing.url())
                .attributes(
                    Map.of(
                        QueueAttributeName.VISIBILITY_TIMEOUT,
                        Integer.toString(SqsQueue.seconds(settings.lockDuration())))));
    client.tagQueue(request -> request.queueUrl(existing.url()).tags(tags(queue, settings)));
  }

  private static Map<String, String> tags(QueueName queue, QueueSettings settings) {
    return Map.of(
        TAG + "queue", queue.value(),
        TAG + "max-delivery-count", Integer.toString(settings.maxDeliveryCount()),
        TAG + "lock-duration", settings.lockDuration().toString(),
        TAG + "message-ttl", settings.messageTtl().toString(),
        TAG + "duplicate-window", settings.duplicateWindow().toString(),
        TAG + "poison-policy", settings.poisonPolicy().name());
  }

  /** A queue that somebody else created has our defaults where its tags say nothing. */
  QueueSettings settings(Found found) {
    var tags = client.listQueueTags(request -> request.queueUrl(found.url())).tags();
    var defaults =
        found.mode() == QueueMode.ORDERED ? QueueSettings.ordered() : QueueSettings.unordered();
    return new QueueSettings(
        found.mode(),
        Integer.parseInt(
            tags.getOrDefault(
                TAG + "max-delivery-count", Integer.toString(defaults.maxDeliveryCount()))),
        duration(tags, "lock-duration", defaults.lockDuration()),
        duration(tags, "message-ttl", defaults.messageTtl()),
        duration(tags, "duplicate-window", defaults.duplicateWindow()),
        PoisonPolicy.valueOf(
            tags.getOrDefault(TAG + "poison-policy", defaults.poisonPolicy().name())));
  }

  private static Duration duration(Map<String, String> tags, String name, Duration otherwise) {
    return Duration.parse(tags.getOrDefault(TAG + name, otherwise.toString()));
  }

  /** Those that bear our tag. */
  List<QueueName> queues() {
    return client
        .listQueuesPaginator(request -> request.queueNamePrefix(prefix))
        .queueUrls()
        .stream()
        .filter(url -> !QueueNames.isDeadLetters(url))
        .map(url -> client.listQueueTags(request -> request.queueUrl(url)).tags())
        .flatMap(tags -> Optional.ofNullable(tags.get(TAG + "queue")).stream())
        .map(QueueName::of)
        .sorted()
        .toList();
  }
}
