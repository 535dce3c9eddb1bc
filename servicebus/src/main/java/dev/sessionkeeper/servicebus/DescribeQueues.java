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
import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.CountableQueues.Counts;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/**
 * Creates, changes and reads queues through the administration API.
 *
 * <p>Settings that Service Bus does not have are in the queue's user metadata. The broker's own
 * delivery count is set to its maximum, because it also counts messages that no handler saw; this
 * provider counts attempts itself.
 */
final class DescribeQueues {
  private static final int BROKER_DELIVERIES = 2000;
  private static final Duration LONGEST_LOCK = Duration.ofMinutes(5);
  private static final Duration LONGEST_TTL = Duration.ofDays(366);
  private static final int MOST_DELIVERIES = 1000;

  /** The settings with a Service Bus attribute. All others are in the metadata. */
  private static final Set<QueueSetting<?>> ATTRIBUTES =
      Set.of(QueueSetting.LOCK_DURATION, QueueSetting.MESSAGE_TTL, QueueSetting.DUPLICATE_WINDOW);

  private static final List<QueueSetting<?>> OF_METADATA =
      QueueSetting.all().stream().filter(setting -> !ATTRIBUTES.contains(setting)).toList();
  private static final String METADATA = "sessionkeeper";
  private static final String ADOPTED = " sessionkeeper-adopted";

  private static final Logger log = LoggerFactory.getLogger(DescribeQueues.class);

  private final ServiceBusAdministrationClient client;
  private final Set<String> leftOut = ConcurrentHashMap.newKeySet();
  private final Set<QueueName> declaredHere = ConcurrentHashMap.newKeySet();

  DescribeQueues(ServiceBusAdministrationClient client) {
    this.client = client;
  }

  boolean declare(QueueName queue, QueueSettings settings) {
    boolean created = createOrChange(queue, settings);
    declaredHere.add(queue);
    return created;
  }

  private boolean createOrChange(QueueName queue, QueueSettings settings) {
    requirePossible(queue, settings);
    var existing = find(queue);
    if (existing.isEmpty()) {
      try {
        call("queue " + queue, () -> client.createQueue(BrokerNames.of(queue), options(settings)));
        return true;
      } catch (ResourceExistsException e) {
        existing = find(queue);
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
    var after = isOurs(existing) ? settings : settings.adopting(before);
    if (before.equals(after)) {
      return;
    }
    if (!before.duplicateWindow().equals(after.duplicateWindow())) {
      requireSameDetection(queue, existing, after);
      existing.setDuplicateDetectionHistoryTimeWindow(after.duplicateWindow());
    }
    if (!before.lockDuration().equals(after.lockDuration())) {
      existing.setLockDuration(after.lockDuration());
    }
    if (!before.messageTtl().equals(after.messageTtl())) {
      existing.setDefaultMessageTimeToLive(after.messageTtl());
    }
    if (!OF_METADATA.stream().allMatch(setting -> setting.isSame(before, after))) {
      existing.setMaxDeliveryCount(
          Math.max(existing.getMaxDeliveryCount(), after.maxDeliveryCount()));
      existing.setUserMetadata(metadata(existing, after));
    }
    call("queue " + queue, () -> client.updateQueue(existing));
  }

  private static void requireSameDetection(
      QueueName queue, QueueProperties existing, QueueSettings after) {
    if (existing.isDuplicateDetectionRequired() == after.duplicateWindow().isZero()) {
      throw new KeeperException.Misconfigured(
          "Queue " + queue + " exists; Service Bus cannot turn duplicate detection on or off then");
    }
  }

  /** Returns whether this product created the queue. */
  private static boolean isOurs(QueueProperties queue) {
    return queue.getUserMetadata() != null && queue.getUserMetadata().startsWith(METADATA + ";");
  }

  Optional<QueueSettings> settings(QueueName queue) {
    return find(queue).map(DescribeQueues::settingsOf);
  }

  /**
   * Returns the queues. Those with names that cannot be used here are left out, with a warning for
   * each.
   */
  List<QueueName> queues() {
    return queues(properties -> true);
  }

  /** Returns queues that this product created or changed, or that the application named. */
  List<QueueName> declaredQueues() {
    return queues(
        properties ->
            isOurs(properties)
                || parse(properties.getUserMetadata()).containsKey("poisonPolicy")
                || nameOf(properties.getName()).filter(declaredHere::contains).isPresent());
  }

  private List<QueueName> queues(Predicate<QueueProperties> wanted) {
    return call("the list of queues", () -> client.listQueues().stream().toList()).stream()
        .filter(wanted)
        .flatMap(properties -> nameOf(properties.getName()).stream())
        .sorted()
        .toList();
  }

  /**
   * Returns the counts of a queue, as last computed by the broker.
   *
   * @throws KeeperException.UnknownQueue if there is none of that name
   */
  Counts counts(QueueName queue) {
    try {
      var counted =
          call("queue " + queue, () -> client.getQueueRuntimeProperties(BrokerNames.of(queue)));
      return new Counts(
          (long) counted.getActiveMessageCount() + counted.getScheduledMessageCount(),
          OptionalLong.empty(),
          counted.getDeadLetterMessageCount());
    } catch (ResourceNotFoundException e) {
      throw new KeeperException.UnknownQueue(queue);
    }
  }

  /** Deletes a queue. Returns false if there is none of that name. */
  boolean delete(QueueName queue) {
    declaredHere.remove(queue);
    try {
      call(
          "queue " + queue,
          () -> {
            client.deleteQueue(BrokerNames.of(queue));
            return true;
          });
      return true;
    } catch (ResourceNotFoundException e) {
      return false;
    }
  }

  private Optional<QueueName> nameOf(String name) {
    try {
      return Optional.of(BrokerNames.queueOf(name));
    } catch (IllegalArgumentException e) {
      if (leftOut.add(name)) {
        log.warn("Queue {} of the namespace cannot be used here: {}", name, e.getMessage());
      }
      return Optional.empty();
    }
  }

  private Optional<QueueProperties> find(QueueName queue) {
    try {
      return Optional.of(call("queue " + queue, () -> client.getQueue(BrokerNames.of(queue))));
    } catch (ResourceNotFoundException e) {
      return Optional.empty();
    }
  }

  /**
   * Makes a request. The caller handles "exists" and "does not exist"; every other failure becomes
   * one of our errors.
   */
  private static <T> T call(String what, Supplier<T> request) {
    try {
      return request.get();
    } catch (ResourceExistsException | ResourceNotFoundException e) {
      throw e;
    } catch (RuntimeException e) {
      throw failure(what, Exceptions.unwrap(e));
    }
  }

  private static KeeperException failure(String what, Throwable failure) {
    int status =
        failure instanceof HttpResponseException http && http.getResponse() != null
            ? http.getResponse().getStatusCode()
            : 0;
    return switch (status) {
      case 400 ->
          new KeeperException.Misconfigured("Service Bus refused the settings of " + what, failure);
      case 401, 403 ->
          new KeeperException.Misconfigured(
              "Service Bus refused the credentials for " + what, failure);
      default ->
          new KeeperException.Unavailable(
              "The administration of Service Bus, asked about " + what + ",", failure);
    };
  }

  private static String metadata(QueueSettings settings) {
    return OF_METADATA.stream()
        .map(setting -> ";" + setting.name() + "=" + setting.text(settings))
        .collect(Collectors.joining("", METADATA, ""));
  }

  /**
   * Returns the metadata with our settings appended. The metadata of a queue that another client
   * created is kept in front.
   */
  private static String metadata(QueueProperties existing, QueueSettings settings) {
    var text = existing.getUserMetadata();
    if (text == null || isOurs(existing)) {
      return metadata(settings);
    }
    int ours = text.indexOf(ADOPTED);
    return (ours < 0 ? text : text.substring(0, ours))
        + ADOPTED
        + metadata(settings).substring(METADATA.length());
  }

  /**
   * Returns the settings of a queue. If another client created it, they are its attributes, and our
   * defaults for the other settings.
   */
  private static QueueSettings settingsOf(QueueProperties properties) {
    var own = parse(properties.getUserMetadata());
    var mode = properties.isSessionRequired() ? QueueMode.ORDERED : QueueMode.UNORDERED;
    var attributes =
        QueueSettings.defaults(mode)
            .withMaxDeliveryCount(Math.clamp(properties.getMaxDeliveryCount(), 1, MOST_DELIVERIES))
            .withLockDuration(properties.getLockDuration())
            .withMessageTtl(shorter(properties.getDefaultMessageTimeToLive(), LONGEST_TTL))
            .withDuplicateWindow(
                properties.isDuplicateDetectionRequired()
                    ? properties.getDuplicateDetectionHistoryTimeWindow()
                    : Duration.ZERO);
    return QueueSettings.parse(
        mode, setting -> Optional.of(own.getOrDefault(setting.name(), setting.text(attributes))));
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private static Map<String, String> parse(String metadata) {
    var values = new HashMap<String, String>();
    if (metadata != null) {
      int adopted = metadata.indexOf(ADOPTED);
      int ours = metadata.startsWith(METADATA + ";") ? 0 : adopted;
      for (var part : ours < 0 ? new String[0] : metadata.substring(ours).split(";", -1)) {
        int at = part.indexOf('=');
        if (at > 0) {
          values.put(part.substring(0, at), part.substring(at + 1));
        }
      }
    }
    return values;
  }
}
