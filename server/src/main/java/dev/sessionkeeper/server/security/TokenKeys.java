package dev.sessionkeeper.server.security;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys of the OpenID Connect provider. They are read at the start, every five minutes,
 * and soon after a token names an unknown key, always in the background. If reading fails, the
 * previous keys stay.
 */
final class TokenKeys implements JWKSource<SecurityContext>, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TokenKeys.class);
  private static final Duration REFRESH = Duration.ofMinutes(5);

  /**
   * The shortest time between two readings. A token may name any key, so unknown keys must not
   * cause a reading each.
   */
  private static final Duration NOT_SOONER = Duration.ofSeconds(10);

  private final JwtConfig config;
  private final TimeSource time;
  private volatile JWKSet keys;
  private final AtomicLong lastLoad;
  private volatile boolean closed;

  TokenKeys(JwtConfig config, TimeSource time) {
    this.config = config;
    this.time = time;
    try {
      this.keys = load(config);
    } catch (IOException | ParseException e) {
      throw new KeeperException.Misconfigured(
          "The keys of security.jwt cannot be read: " + e.getMessage(), e);
    }
    this.lastLoad = new AtomicLong(time.nanoTime());
    config.jwksUrl().ifPresent(url -> refreshLater());
  }

  @Override
  public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context) {
    var found = selector.select(keys);
    long last = lastLoad.get();
    if (found.isEmpty()
        && config.jwksUrl().isPresent()
        && time.since(last).compareTo(NOT_SOONER) >= 0
        && lastLoad.compareAndSet(last, time.nanoTime())) {
      Thread.ofVirtual().name("jwks").start(this::reload);
    }
    return found;
  }

  @Override
  public void close() {
    closed = true;
  }

  private void refreshLater() {
    time.schedule(REFRESH, () -> Thread.ofVirtual().name("jwks").start(this::refresh));
  }

  private void refresh() {
    if (closed) {
      return;
    }
    reload();
    refreshLater();
  }

  private void reload() {
    lastLoad.set(time.nanoTime());
    try {
      keys = load(config);
    } catch (IOException | ParseException e) {
      log.warn(
          "The keys of security.jwt could not be read again; those at hand stay: {}", e.toString());
    }
  }

  private static JWKSet load(JwtConfig config) throws IOException, ParseException {
    if (config.jwksFile().isPresent()) {
      return JWKSet.parse(Files.readString(config.jwksFile().get()));
    }
    return JWKSet.parse(CallProvider.get(config.jwksUrl().orElseThrow()));
  }
}
