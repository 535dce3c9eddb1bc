package dev.sessionkeeper;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * One setting of a queue that may change: name, meaning, default and allowed values.
 *
 * <p>Each setting is declared once, here. The HTTP API and its description, the command line, the
 * client and the tags of cloud queues derive their fields, options and ranges from {@link #all}.
 *
 * @param <T> the type of its values
 */
public final class QueueSetting<T> {
  public static final QueueSetting<Integer> MAX_DELIVERY_COUNT =
      new QueueSetting<>(
          "maxDeliveryCount",
          "Attempts before the poison policy applies",
          new WholeNumber(5, 1, 1000),
          QueueSettings::maxDeliveryCount,
          QueueSettings::withMaxDeliveryCount);

  public static final QueueSetting<Duration> LOCK_DURATION =
      new QueueSetting<>(
          "lockDuration",
          "How long a lease lasts without renewal",
          new TimeSpan(Duration.ofMinutes(1), Duration.ofSeconds(1), Duration.ofHours(12)),
          QueueSettings::lockDuration,
          QueueSettings::withLockDuration);

  public static final QueueSetting<Duration> MESSAGE_TTL =
      new QueueSetting<>(
          "messageTtl",
          "How long a message may wait before it becomes a dead letter",
          new TimeSpan(Duration.ofHours(24), Duration.ofSeconds(1), Duration.ofDays(366)),
          QueueSettings::messageTtl,
          QueueSettings::withMessageTtl);

  public static final QueueSetting<Duration> DUPLICATE_WINDOW =
      new QueueSetting<>(
          "duplicateWindow",
          "How long the queue remembers message ids",
          new TimeSpan(Duration.ofMinutes(10), Duration.ZERO, Duration.ofDays(7)),
          QueueSettings::duplicateWindow,
          QueueSettings::withDuplicateWindow);

  public static final QueueSetting<PoisonPolicy> POISON_POLICY =
      new QueueSetting<>(
          "poisonPolicy",
          "What happens to a message that has used all attempts",
          new Choice<>(PoisonPolicy.DEAD_LETTER, PoisonPolicy.class),
          QueueSettings::poisonPolicy,
          QueueSettings::withPoisonPolicy);

  private static final List<QueueSetting<?>> ALL =
      List.of(MAX_DELIVERY_COUNT, LOCK_DURATION, MESSAGE_TTL, DUPLICATE_WINDOW, POISON_POLICY);

  private final String name;
  private final String description;
  private final Values<T> values;
  private final Function<QueueSettings, T> getter;
  private final BiFunction<QueueSettings, T, QueueSettings> wither;

  private QueueSetting(
      String name,
      String description,
      Values<T> values,
      Function<QueueSettings, T> getter,
      BiFunction<QueueSettings, T, QueueSettings> wither) {
    this.name = name;
    this.description = description;
    this.values = values;
    this.getter = getter;
    this.wither = wither;
  }

  /** The values that a setting may have, and its default. */
  public sealed interface Values<T> {
    /** Returns the default. */
    T initially();

    /** Returns the allowed values as text, such as {@code 1 to 1000}. */
    String allowed();

    /** Returns whether the value is allowed. */
    boolean allows(T value);

    /** Reads a value as {@link QueueSetting#text} writes it. */
    T parse(String text);
  }

  /** A whole number with bounds. */
  public record WholeNumber(Integer initially, int least, int most) implements Values<Integer> {
    @Override
    public String allowed() {
      return least + " to " + most;
    }

    @Override
    public boolean allows(Integer value) {
      return value >= least && value <= most;
    }

    @Override
    public Integer parse(String text) {
      return Integer.valueOf(text);
    }
  }

  /** A duration with bounds. */
  public record TimeSpan(Duration initially, Duration least, Duration most)
      implements Values<Duration> {
    @Override
    public String allowed() {
      return least + " to " + most;
    }

    @Override
    public boolean allows(Duration value) {
      return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
    }

    @Override
    public Duration parse(String text) {
      return Duration.parse(text);
    }
  }

  /** One of the constants of an enum. */
  public record Choice<E extends Enum<E>>(E initially, Class<E> type) implements Values<E> {
    @Override
    public String allowed() {
      return Arrays.stream(type.getEnumConstants())
          .map(Enum::name)
          .collect(Collectors.joining(", "));
    }

    @Override
    public boolean allows(E value) {
      return true;
    }

    @Override
    public E parse(String text) {
      return Enum.valueOf(type, text);
    }
  }

  /** Returns all settings, in the order in which they are shown. */
  public static List<QueueSetting<?>> all() {
    return ALL;
  }

  /** Returns the name in Java and JSON, such as {@code lockDuration}. */
  public String name() {
    return name;
  }

  /** Returns the name with hyphens, as an option or a tag, such as {@code lock-duration}. */
  public String hyphenated() {
    return name.replaceAll("([a-z])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
  }

  public String description() {
    return description;
  }

  public Values<T> values() {
    return values;
  }

  /** Returns the default. */
  public T initially() {
    return values.initially();
  }

  /** Returns the value that these settings have. */
  public T of(QueueSettings settings) {
    return getter.apply(settings);
  }

  /** Returns a copy of the settings with another value. */
  public QueueSettings set(QueueSettings settings, T value) {
    return wither.apply(settings, value);
  }

  /** Returns a copy of the settings with the value of {@code other}. */
  public QueueSettings copy(QueueSettings settings, QueueSettings other) {
    return set(settings, of(other));
  }

  /** Returns whether both settings have the same value for this setting. */
  public boolean isSame(QueueSettings one, QueueSettings other) {
    return of(one).equals(of(other));
  }

  /** Returns the value as text: digits, an ISO 8601 duration or a constant's name. */
  public String text(QueueSettings settings) {
    return String.valueOf(of(settings));
  }

  /**
   * Returns a copy of the settings with a value that {@link #text} wrote.
   *
   * @throws IllegalArgumentException if the text cannot be read or the value is not allowed
   */
  public QueueSettings parse(QueueSettings settings, String text) {
    T value;
    try {
      value = values.parse(text);
    } catch (java.time.DateTimeException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          name + " must be " + values.allowed() + ", was " + text, e);
    }
    return set(settings, value);
  }

  T require(T value) {
    if (!values.allows(value)) {
      throw new IllegalArgumentException(name + " must be " + values.allowed() + ", was " + value);
    }
    return value;
  }

  @Override
  public String toString() {
    return name;
  }
}
