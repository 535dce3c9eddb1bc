package dev.sessionkeeper;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The settings of a queue. {@link QueueSetting} declares the meaning, default and range of each
 * setting.
 *
 * @param mode whether messages belong to sessions; cannot change
 * @param messageTtl an expired message becomes a dead letter with the reason {@code expired}
 */
public record QueueSettings(
    QueueMode mode,
    int maxDeliveryCount,
    Duration lockDuration,
    Duration messageTtl,
    Duration duplicateWindow,
    PoisonPolicy poisonPolicy) {
  public QueueSettings {
    QueueSetting.MAX_DELIVERY_COUNT.require(maxDeliveryCount);
    QueueSetting.LOCK_DURATION.require(lockDuration);
    QueueSetting.MESSAGE_TTL.require(messageTtl);
    QueueSetting.DUPLICATE_WINDOW.require(duplicateWindow);
  }

  /**
   * Returns the defaults for an ordered queue: 5 attempts, a lock of 1 minute, a time to live of 24
   * hours, a duplicate window of 10 minutes, and dead letters.
   */
  public static QueueSettings ordered() {
    return defaults(QueueMode.ORDERED);
  }

  /** Returns the same defaults for an unordered queue. */
  public static QueueSettings unordered() {
    return defaults(QueueMode.UNORDERED);
  }

  /** Returns the defaults for a queue of this mode. */
  public static QueueSettings defaults(QueueMode mode) {
    return new QueueSettings(
        mode,
        QueueSetting.MAX_DELIVERY_COUNT.initially(),
        QueueSetting.LOCK_DURATION.initially(),
        QueueSetting.MESSAGE_TTL.initially(),
        QueueSetting.DUPLICATE_WINDOW.initially(),
        QueueSetting.POISON_POLICY.initially());
  }

  /**
   * Reads settings from texts, such as the members of a JSON object or the tags of a queue.
   *
   * @param textOf gives the text of a setting; empty if the setting has its default
   */
  public static QueueSettings parse(
      QueueMode mode, Function<QueueSetting<?>, Optional<String>> textOf) {
    var settings = defaults(mode);
    for (var setting : QueueSetting.all()) {
      var text = textOf.apply(setting);
      if (text.isPresent()) {
        settings = setting.parse(settings, text.get());
      }
    }
    return settings;
  }

  public QueueSettings withMaxDeliveryCount(int count) {
    return new QueueSettings(mode, count, lockDuration, messageTtl, duplicateWindow, poisonPolicy);
  }

  public QueueSettings withLockDuration(Duration duration) {
    return new QueueSettings(
        mode, maxDeliveryCount, duration, messageTtl, duplicateWindow, poisonPolicy);
  }

  public QueueSettings withMessageTtl(Duration ttl) {
    return new QueueSettings(
        mode, maxDeliveryCount, lockDuration, ttl, duplicateWindow, poisonPolicy);
  }

  public QueueSettings withDuplicateWindow(Duration window) {
    return new QueueSettings(
        mode, maxDeliveryCount, lockDuration, messageTtl, window, poisonPolicy);
  }

  public QueueSettings withPoisonPolicy(PoisonPolicy policy) {
    return new QueueSettings(
        mode, maxDeliveryCount, lockDuration, messageTtl, duplicateWindow, policy);
  }

  /**
   * Returns the mode and all settings by name, as JSON has them: each is an Integer or a String.
   */
  public Map<String, Object> members() {
    var members = new LinkedHashMap<String, Object>();
    members.put("mode", mode.name());
    for (var setting : QueueSetting.all()) {
      members.put(
          setting.name(), setting.of(this) instanceof Integer number ? number : setting.text(this));
    }
    return members;
  }

  /**
   * For providers: returns these settings for a queue that another client created. A value that is
   * the default counts as not given, and the queue keeps its own.
   */
  public QueueSettings adopting(QueueSettings existing) {
    var defaults = defaults(mode);
    var adopted = this;
    for (var setting : QueueSetting.all()) {
      if (setting.isSame(this, defaults)) {
        adopted = setting.copy(adopted, existing);
      }
    }
    return adopted;
  }

  /**
   * For providers: returns how a message ends for which a handler asked for a retry. While attempts
   * are left, and for a retry without limit, the answer is that retry; otherwise the poison policy
   * decides.
   *
   * @param attempts the failed attempts of the message, including the latest one
   */
  public Settlement settlementAfter(int attempts, Settlement.Retry retry) {
    return retry.limited() && attempts >= maxDeliveryCount
        ? poisonPolicy.settlement(mode, retry.reason(), retry)
        : retry;
  }

  /**
   * For providers: returns whether a message becomes a dead letter after so many failed attempts.
   */
  public boolean isDeadLetterAfter(int attempts) {
    return attempts >= maxDeliveryCount && poisonPolicy.setsAside(mode);
  }
}
