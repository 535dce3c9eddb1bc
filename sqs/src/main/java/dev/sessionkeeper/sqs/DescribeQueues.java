package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.QueueSettings;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;

/**
 * Creates, changes and finds queues, each with its dead-letter queue. Settings that SQS does not
 * have are tags.
 *
 * <p>Messages are retained as long as SQS allows, 14 days: the provider enforces the time to live
 * itself, because SQS drops old messages. SQS's own redrive is a safety net at a thousand receives,
 * because it also counts receives that no handler saw, and gives no reason.
 */
final class DescribeQueues {
  private static final Duration RETENTION = Duration.ofDays(14);
  private static final String SAFETY_NET = "1000";
  private static final String TAG = "sessionkeeper-";
  private static final String ADOPTED = TAG + "adopted";

  /** The settings that are SQS attributes as well. */
  private static final List<QueueSetting<?>> OF_ATTRIBUTES =
      List.of(
          QueueSetting.LOCK_DURATION, QueueSetting.MESSAGE_TTL, QueueSetting.MAX_DELIVERY_COUNT);

  private static final Duration SQS_WINDOW = Duration.ofMinutes(5);
  private static final Pattern TARGET =
      Pattern.compile("\"deadLetterTargetArn\"\\s*:\\s*\"[^\"]*:([^\":]+)\"");
  private static final Pattern RECEIVES =
      Pattern.compile("\"maxReceiveCount\"\\s*:\\s*\"?([0-9]{1,9})");
  private static final Logger log = LoggerFactory.getLogger(DescribeQueues.class);

  private final SqsClient client;
  private final QueueNames names;
  private final String prefix;

  /** Settings that this process declared and had no right to write, by address. */
  private final Map<String, QueueSettings> unwritten = new ConcurrentHashMap<>();

  DescribeQueues(SqsClient client, String prefix) {
    this.client = client;
    this.names = new QueueNames(prefix);
    this.prefix = prefix;
  }

  /**
   * The addresses of a queue and its dead letters.
   *
   * @param deadLettersUrl empty if another client created the queue without dead letters
   * @param isShared whether other queues may use the same dead-letter queue
   */
  record Found(String url, Optional<String> deadLettersUrl, boolean isShared, QueueMode mode) {
    String sqsName() {
      return url.substring(url.lastIndexOf('/') + 1);
    }
  }

  Optional<Found> find(QueueName queue) {
    var refused = Optional.<KeeperException>empty();
    for (var mode : QueueMode.values()) {
      try {
        var url = urlOf(queue, names.nameOf(queue, mode));
        if (url.isPresent()) {
          return Optional.of(found(queue, url.get(), mode));
        }
      } catch (KeeperException.Misconfigured e) {
        // A narrow right may cover only one of the two names, with or without .fifo.
        refused = Optional.of(e);
      }
    }
    if (refused.isPresent()) {
      throw refused.get();
    }
    return Optional.empty();
  }

  /**
   * Finds the dead letters by the queue's redrive policy, otherwise by the name that this product
   * uses.
   */
  private Found found(QueueName queue, String url, QueueMode mode) {
    var ours = names.deadLettersOf(queue, mode);
    var theirs = redriveTarget(queue, url).filter(name -> !name.equals(ours));
    var theirUrl = theirs.flatMap(name -> urlIfAllowed(queue, name));
    return theirUrl.isPresent()
        ? new Found(url, theirUrl, true, mode)
        : new Found(url, urlIfAllowed(queue, ours), false, mode);
  }

  /**
   * Returns the address of the dead letters, or nothing if the right to read it is missing; then
   * SQS's own redrive remains.
   */
  private Optional<String> urlIfAllowed(QueueName queue, String name) {
    try {
      return urlOf(queue, name);
    } catch (KeeperException.Misconfigured e) {
      log.debug("The dead letters of queue {} cannot be reached", queue, e);
      return Optional.empty();
    }
  }

  private Optional<String> redriveTarget(QueueName queue, String url) {
    try {
      var policy = attributesOf(url).getOrDefault(QueueAttributeName.REDRIVE_POLICY, "");
      var target = TARGET.matcher(policy);
      return target.find() ? Optional.of(target.group(1)) : Optional.empty();
    } catch (SdkException e) {
      throw SqsCalls.translate(queue, e);
    }
  }

  private Map<QueueAttributeName, String> attributesOf(String url) {
    return whereAllowed(
        () ->
            client
                .getQueueAttributes(
                    request -> request.queueUrl(url).attributeNames(QueueAttributeName.ALL))
                .attributes());
  }

  private Map<String, String> tagsOf(String url) {
    return whereAllowed(() -> client.listQueueTags(request -> request.queueUrl(url)).tags());
  }

  /**
   * Returns nothing if the right to read is missing, because the rights to receive and send
   * suffice.
   */
  private static <K> Map<K, String> whereAllowed(Supplier<Map<K, String>> read) {
    try {
      return read.get();
    } catch (SdkException e) {
      if (SqsCalls.isAccessRefused(e)) {
        return Map.of();
      }
      throw e;
    }
  }

  /** Creates the dead-letter queue of a queue that has none; the queue itself is not changed. */
  String createDeadLetters(QueueName queue, QueueMode mode) {
    var settings = mode == QueueMode.ORDERED ? QueueSettings.ordered() : QueueSettings.unordered();
    try {
      return client
          .createQueue(
              request ->
                  request
                      .queueName(names.deadLettersOf(queue, mode))
                      .attributes(attributes(settings)))
          .queueUrl();
    } catch (SdkException e) {
      if (SqsCalls.isAccessRefused(e)) {
        throw new KeeperException.Misconfigured(
            "Queue "
                + queue
                + " has no place for dead letters. Create "
                + names.deadLettersOf(queue, mode)
                + ", name a queue in its redrive policy, or grant sqs:CreateQueue",
            e);
      }
      throw SqsCalls.translate(queue, e);
    }
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
    var tags = tagsOf(existing.url());
    var before = settings(existing, tags);
    boolean isOurs = tags.containsKey(TAG + "queue") && !tags.containsKey(ADOPTED);
    var after = isOurs ? settings : settings.adopting(before);
    if (before.equals(after) && tags.containsKey(TAG + "queue")) {
      return;
    }
    try {
      write(queue, existing, before, after, isOurs);
      unwritten.remove(existing.url());
    } catch (SdkException e) {
      if (!SqsCalls.isAccessRefused(e)) {
        throw e;
      }
      log.info(
          "Queue {} stays as it is in SQS, because the right to change it is missing;"
              + " this process uses {}",
          queue,
          after);
      unwritten.put(existing.url(), after);
    }
  }

  private void write(
      QueueName queue, Found existing, QueueSettings before, QueueSettings after, boolean isOurs) {
    if (!before.lockDuration().equals(after.lockDuration())) {
      client.setQueueAttributes(
          request ->
              request
                  .queueUrl(existing.url())
                  .attributes(
                      Map.of(
                          QueueAttributeName.VISIBILITY_TIMEOUT,
                          Integer.toString(SqsQueue.seconds(after.lockDuration())))));
    }
    var changed = isOurs ? tags(queue, after) : tagsOfAdopted(queue, before, after);
    client.tagQueue(request -> request.queueUrl(existing.url()).tags(changed));
  }

  /**
   * Returns tags for changed settings of a queue that another client created, so that they are
   * found again.
   */
  private static Map<String, String> tagsOfAdopted(
      QueueName queue, QueueSettings before, QueueSettings after) {
    var changed = new HashMap<>(tags(queue, after));
    changed.entrySet().removeAll(tags(queue, before).entrySet());
    changed.put(TAG + "queue", queue.value());
    changed.put(ADOPTED, "true");
    return changed;
  }

  private static Map<String, String> tags(QueueName queue, QueueSettings settings) {
    var tags = new HashMap<String, String>();
    tags.put(TAG + "queue", queue.value());
    for (var setting : QueueSetting.all()) {
      tags.put(TAG + setting.hyphenated(), setting.text(settings));
    }
    return tags;
  }

  QueueSettings settings(Found found) {
    var here = unwritten.get(found.url());
    return here == null ? settings(found, tagsOf(found.url())) : here;
  }

  /**
   * Returns the settings of a queue: its tags, otherwise its attributes, otherwise the defaults.
   */
  private QueueSettings settings(Found found, Map<String, String> tags) {
    boolean isTagged =
        OF_ATTRIBUTES.stream().allMatch(one -> tags.containsKey(TAG + one.hyphenated()));
    var own = isTagged ? Map.<QueueAttributeName, String>of() : attributesOf(found.url());
    return QueueSettings.parse(
        found.mode(),
        setting ->
            Optional.ofNullable(tags.get(TAG + setting.hyphenated()))
                .or(() -> attribute(setting, found.mode(), own)));
  }

  /** Returns the attribute that SQS has for a setting; empty if there is none. */
  private static Optional<String> attribute(
      QueueSetting<?> setting, QueueMode mode, Map<QueueAttributeName, String> own) {
    if (setting.equals(QueueSetting.MAX_DELIVERY_COUNT)) {
      return maxReceives(own).map(String::valueOf);
    }
    if (setting.equals(QueueSetting.LOCK_DURATION)) {
      return seconds(own, QueueAttributeName.VISIBILITY_TIMEOUT).map(Duration::toString);
    }
    if (setting.equals(QueueSetting.MESSAGE_TTL)) {
      return seconds(own, QueueAttributeName.MESSAGE_RETENTION_PERIOD).map(Duration::toString);
    }
    return setting.equals(QueueSetting.DUPLICATE_WINDOW) && mode == QueueMode.ORDERED
        ? Optional.of(SQS_WINDOW.toString())
        : Optional.empty();
  }

  private static Optional<Integer> maxReceives(Map<QueueAttributeName, String> attributes) {
    var policy = attributes.getOrDefault(QueueAttributeName.REDRIVE_POLICY, "");
    var receives = RECEIVES.matcher(policy);
    return receives.find()
        ? Optional.of(Math.clamp(Long.parseLong(receives.group(1)), 1, 1000))
        : Optional.empty();
  }

  private static Optional<Duration> seconds(
      Map<QueueAttributeName, String> attributes, QueueAttributeName name) {
    return Optional.ofNullable(attributes.get(name))
        .map(text -> Duration.ofSeconds(Long.parseLong(text)))
        .filter(Duration::isPositive);
  }

  /** Returns the queues with this product's tag. */
  List<QueueName> queues() {
    return client
        .listQueuesPaginator(request -> request.queueNamePrefix(prefix))
        .queueUrls()
        .stream()
        .filter(url -> !QueueNames.isDeadLetters(url))
        .map(url -> client.listQueueTags(request -> request.queueUrl(url)).tags())
        .flatMap(tags -> Optional.ofNullable(tags.get(TAG + "queue")).stream())
        .flatMap(DescribeQueues::nameOf)
        .sorted()
        .toList();
  }

  private static Stream<QueueName> nameOf(String tag) {
    try {
      return Stream.of(QueueName.of(tag));
    } catch (IllegalArgumentException e) {
      log.warn("A queue of SQS has a tag {}queue that is no name of a queue here: {}", TAG, tag);
      return Stream.empty();
    }
  }
}
