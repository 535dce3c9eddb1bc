package dev.sessionkeeper.server.security;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.time.TimeSource;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/** The gate of a server, as configured now. A reload puts another one in its place. */
public final class Guard implements Gate, AutoCloseable {
  private final TimeSource time;
  private volatile Current current;

  private record Current(Gate gate, Optional<TokenKeys> keys) {}

  /**
   * Builds the gate for a server on this address.
   *
   * @throws KeeperException.Misconfigured if the address is not loopback and nobody would be asked
   *     for a credential
   */
  public Guard(SecurityConfig config, String host, TimeSource time) {
    this.time = time;
    if (!config.isClosed() && !isLoopback(host)) {
      throw new KeeperException.Misconfigured(
          "server.host is "
              + host
              + " but security names no keys, certificates or jwt: add one of them, or listen on"
              + " 127.0.0.1");
    }
    this.current = build(config);
  }

  /** Takes over other credentials. An open server stays open and a closed one closed. */
  public void replace(SecurityConfig config) {
    var before = current;
    current = build(config);
    before.keys().ifPresent(TokenKeys::close);
  }

  @Override
  public Caller admit(Visit visit) {
    return current.gate().admit(visit);
  }

  @Override
  public void close() {
    current.keys().ifPresent(TokenKeys::close);
  }

  private Current build(SecurityConfig config) {
    if (!config.isClosed()) {
      return new Current(new OpenGate(), Optional.empty());
    }
    var keys = config.jwt().map(jwt -> new TokenKeys(jwt, time));
    var tokens = keys.map(source -> new VerifyTokens(config.jwt().orElseThrow(), source));
    var limit = config.rateLimit().map(LimitRate::new);
    return new Current(new CredentialGate(config, tokens, limit), keys);
  }

  static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
