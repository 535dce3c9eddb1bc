package dev.sessionkeeper.server.security;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A copy of the store's API keys in this server.
 *
 * <p>The gate runs on the event loop and must not wait for the database. So it uses a copy that is
 * read again every second, and at once after a change through this server. Every server refuses a
 * revoked key within {@link #EVERY} plus one statement. While the database is away the copy stays.
 */
public final class StoredKeys implements AutoCloseable {
  static final Duration EVERY = Duration.ofSeconds(1);
  private static final Logger log = LoggerFactory.getLogger(StoredKeys.class);

  private final TimeSource time;
  private final AtomicBoolean isReading = new AtomicBoolean();
  private volatile Map<String, StoredKey> byDigest = Map.of();
  private volatile Optional<KeyTable> table = Optional.empty();
  private volatile boolean closed;

  public StoredKeys(TimeSource time) {
    this.time = time;
  }

  /** Reads the keys of this store from now on. */
  public void use(Database database, MeterRegistry meters) {
    table = Optional.of(new KeyTable(database));
    Gauge.builder("keeper.api.key.remaining", this::remaining)
        .description("How long the first API key to expire is still valid")
        .baseUnit("seconds")
        .register(meters);
    refresh();
    readRegularly();
  }

  /** Returns the table; empty on servers without a database. */
  Optional<KeyTable> table() {
    return table;
  }

  /** Returns the caller of a key that is neither revoked nor expired. */
  Optional<Caller> callerOf(String sha256) {
    return Optional.ofNullable(byDigest.get(sha256))
        .filter(key -> key.isValidAt(time.instant()))
        .map(StoredKey::caller);
  }

  /** Returns the callers of all valid keys. */
  List<Caller> callers() {
    var now = time.instant();
    return byDigest.values().stream()
        .filter(key -> key.isValidAt(now))
        .map(StoredKey::caller)
        .toList();
  }

  /** Reads all keys now. */
  void refresh() {
    table.ifPresent(
        keys ->
            byDigest =
                keys.active().stream().collect(Collectors.toMap(StoredKey::sha256, key -> key)));
  }

  private double remaining() {
    var now = time.instant();
    return byDigest.values().stream()
        .filter(key -> key.isValidAt(now))
        .flatMap(key -> key.expiresAt().stream())
        .mapToDouble(end -> Duration.between(now, end).toSeconds())
        .min()
        .orElse(Double.NaN);
  }

  private void readRegularly() {
    time.schedule(
        EVERY,
        () -> {
          if (!closed) {
            if (isReading.compareAndSet(false, true)) {
              Thread.ofVirtual().name("read-keys").start(this::read);
            }
            readRegularly();
          }
        });
  }

  private void read() {
    try {
      refresh();
    } catch (KeeperException e) {
      log.debug("The API keys could not be read; those read last stand", e);
    } finally {
      isReading.set(false);
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
