package dev.sessionkeeper.registry;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Kinds, prices and lifetime. A session keeps the values it started with.
 *
 * @param lifetime how long a session lives without renewal
 * @param period the time for which a session of factor 1 costs 1 unit
 */
public record RegistryOptions(
    Map<Integer, SessionKind> kinds,
    Duration lifetime,
    Duration period,
    Consumer<RegistryEvent> listener) {
  private static final Duration CENTURY = Duration.ofDays(36_525);

  public RegistryOptions {
    kinds = Map.copyOf(kinds);
    if (kinds.isEmpty()) {
      throw new IllegalArgumentException("kinds must have at least one kind, had none");
    }
    require("lifetime", lifetime);
    require("period", period);
  }

  /** Returns kinds 1, 2 and 3 with factors 1, 2 and 3, and a lifetime and period of 30 days. */
  public static RegistryOptions defaults() {
    return of(
        List.of(
            new SessionKind(1, "basic", BigDecimal.ONE),
            new SessionKind(2, "standard", BigDecimal.TWO),
            new SessionKind(3, "premium", BigDecimal.valueOf(3))));
  }

  public static RegistryOptions of(List<SessionKind> kinds) {
    var byNumber = new TreeMap<Integer, SessionKind>();
    kinds.forEach(kind -> byNumber.put(kind.number(), kind));
    return new RegistryOptions(byNumber, Duration.ofDays(30), Duration.ofDays(30), event -> {});
  }

  public RegistryOptions lifetime(Duration other) {
    return new RegistryOptions(kinds, other, period, listener);
  }

  public RegistryOptions period(Duration other) {
    return new RegistryOptions(kinds, lifetime, other, listener);
  }

  public RegistryOptions listener(Consumer<RegistryEvent> other) {
    return new RegistryOptions(kinds, lifetime, period, other);
  }

  SessionKind kind(int number) {
    var kind = kinds.get(number);
    if (kind == null) {
      throw new IllegalArgumentException(
          "sessionKind must be one of " + new TreeMap<>(kinds).keySet() + ", was " + number);
    }
    return kind;
  }

  private static void require(String name, Duration value) {
    if (value.compareTo(Duration.ofSeconds(1)) < 0 || value.compareTo(CENTURY) > 0) {
      throw new IllegalArgumentException(name + " must be 1 second to 100 years, was " + value);
    }
  }
}
