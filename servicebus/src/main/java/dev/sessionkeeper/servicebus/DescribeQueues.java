package dev.sessionkeeper.servicebus;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.exception.ResourceExistsException;
import com.azure.core.exception.ResourceNotFoundException;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClient;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.QueueProperties;
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

/**
 * Creates, changes and reads queues through the administration API.
 *
 * <p>What Service Bus has no setting for is in the queue's user metadata. Its own delivery count is
 * set as high as it goes, because it counts batch-mates and the attempts are counted by us.
 */
final class DescribeQueues {
  private static final int BROKER_DELIVERIES = 2000;
  private static final Duration LONGEST_LOCK = Duration.ofMinutes(5);
  private static final String METADATA = "sessionkeeper";

  private final ServiceBusAdministrationClient client;

  DescribeQueues(ServiceBusAdministrationClient client) {
    this.client = client;
  }

  boolean declare(QueueName queue, QueueSettings settings) {
    requirePossible(queue, settings);
    var existing = find(queue);
    if (existing.isEmpty()) {
      try {
        client.createQueue(queue.value(), options(settings));
        return true;
      } catch (ResourceExistsException e) {
        existing = find(queue);
      } catch (HttpResponseException e) {
        throw failure(queue, e);
      }
    }
    change(queue, existing.orElseThrow(() -> new KeeperException.UnknownQueue(queue)), settings);
    return false;
  }

  private static void requirePossible(QueueName queue, QueueSettings settings) {
    if (settings.lockDuration().compareTo(LONGEST_LOCK) > 0) {
      throw refused(queue, "lockDuration must be at most " + LONGEST_LOCK, settings.lockDuration());
    }
    if (settings.poisonPolicy() == PoisonPolicy.PARK_SESSION) {
      throw new KeeperException.NotSupported("servicebus", "park a session");
    }
  }

  private static KeeperException.Misconfigured refused(
      QueueName queue, String rule, Duration value) {
    return new KeeperException.Misconfigured(
        "Queue " + queue + ": " + rule + " on Service Bus, was " + value);
  }

  private static CreateQueueOptions options(QueueSettings settings) {
    var options =
        new CreateQueueOptions()
            .setSessionRequired(settings.mode() == QueueMode.ORDERED)
            .setLockDuration(settings.lockDuration())
            .setMaxDeliveryCount(BROKER_DELIVERIES)
            .setDefaultMessageTimeToLive(settings.messageTtl())
            .setDeadLetteringOnMessageExpiration(true)
            .setBatchedOperationsEnabled(true)
            .setUserMetadata(metadata(settings))
            .setDuplicateDetectionRequired(!settings.duplicateWindow().isZero());
    if (!settings.duplicateWindow().isZero()) {
      options.setDuplicateDetectionHistoryTimeWindow(settings.duplicateWindow());
    }
    return options;
  }

  private void change(QueueName queue, QueueProperties existing, QueueSettings settings) {
    var before = settingsOf(existing);
    if (before.mode() != settings.mode()) {
      throw new KeeperException.QueueConflict(queue, before.mode());
    }
    if (before.equals(settings)) {
      return;
    }
    if (existing.isDuplicateDetectionRequired() == settings.duplicateWindow().isZero()) {
      throw new KeeperException.Misconfigured(
          "Queue " + queue + " exists; Service Bus cannot turn duplicate detection on or off then");
    }
    existing
        .setLockDuration(settings.lockDuration())
        .setDefaultMessageTimeToLive(settings.messageTtl())
        .setUserMetadata(metadata(settings));
    if (!settings.duplicateWindow().isZero()) {
      existing.setDuplicateDetectionHistoryTimeWindow(settings.duplicateWindow());
    }
    try {
      client.updateQueue(existing);
    } catch (HttpResponseException e) {
      throw failure(queue, e);
    }
  }

  Optional<QueueSettings> settings(QueueName queue) {
    return find(queue).map(DescribeQueues::settingsOf);
  }

  List<QueueName> queues() {
    try {
      return client.listQueues().stream()
          .map(properties -> QueueName.of(properties.getName()))
          .sorted()
          .toList();
    } catch (HttpResponseException e) {
      throw new KeeperException.Unavailable("The administration of Service Bus", e);
    }
  }

  private Optional<QueueProperties> find(QueueName queue) {
    try {
      return Optional.of(client.getQueue(queue.value()));
    } catch (ResourceNotFoundException e) {
      return Optional.empty();
    } catch (HttpResponseException e) {
      throw failure(queue, e);
    }
  }

  private static KeeperException failure(QueueName queue, HttpResponseException failure) {
    var response = failure.getResponse();
    int status = response == null ? 0 : response.getStatusCode();
    return switch (status) {
      case 400 ->
          new KeeperException.Misconfigured(
              "Service Bus refused the settings of queue " + queue, failure);
      case 401, 403 ->
          new KeeperException.Misconfigured(
              "Service Bus refused the credentials for queue " + queue, failure);
      default -> new KeeperException.Unavailable("The administration of queue " + queue, failure);
    };
  }

  private static String metadata(QueueSettings settings) {
    return METADATA
        + ";maxDeliveryCount="
        + settings.maxDeliveryCount()
        + ";poisonPolicy="
        + settings.poisonPolicy();
  }

  /** A queue that somebody else created has our defaults where it says nothing. */
  private static QueueSettings settingsOf(QueueProperties properties) {
    var own = parse(properties.getUserMetadata());
    var defaults =
        properties.isSessionRequired() ? QueueSettings.ordered() : QueueSettings.unordered();
    return new QueueSettings(
        defaults.mode(),
        Optional.ofNullable(own.get("maxDeliveryCount"))
            .map(Integer::parseInt)
            .orElse(defaults.maxDeliveryCount()),
        properties.getLockDuration(),
        shorter(properties.getDefaultMessageTimeToLive(), Duration.ofDays(366)),
        properties.isDuplicateDetectionRequired()
            ? properties.getDuplicateDetectionHistoryTimeWindow()
            : Duration.ZERO,
        Optional.ofNullable(own.get("poisonPolicy"))
            .map(PoisonPolicy::valueOf)
            .orElse(defaults.poisonPolicy()));
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private static Map<String, String> parse(String metadata) {
    var values = new HashMap<String, String>();
    if (metadata != null && metadata.startsWith(METADATA)) {
      for (var part : metadata.split(";", -1)) {
        int at = part.indexOf('=');
        if (at > 0) {
          values.put(part.substring(0, at), part.substring(at + 1));
        }
      }
    }
    return values;
  }
}
