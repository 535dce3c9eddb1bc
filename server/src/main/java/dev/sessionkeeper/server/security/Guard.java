package dev.sessionkeeper.server.security;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.QueueFilter;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.TenantFilter;
import dev.sessionkeeper.time.TimeSource;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/** The gate of a server, as configured now. A reload replaces it. */
public final class Guard implements Gate, AutoCloseable {
  private final String host;
  private final TimeSource time;
  private final BrowserSessions browsers;
  private final StoredKeys keys;
  private volatile Current current;

  private record Current(Gate gate, Optional<TokenKeys> keys, Optional<String> issuer) {
    boolean isClosed() {
      return !(gate instanceof OpenGate);
    }
  }

  /**
   * Creates the gate for a server on this address.
   *
   * @throws KeeperException.Misconfigured if the address is not loopback and no caller would need a
   *     credential
   */
  public Guard(SecurityConfig config, String host, TimeSource time) {
    this.host = host;
    this.time = time;
    this.browsers = new BrowserSessions(time);
    this.keys = new StoredKeys(time);
    if (!config.isClosed() && !isLoopback(host)) {
      throw new KeeperException.Misconfigured(openOnNetwork(host));
    }
    this.current = build(config);
  }

  /** A gate that is ready but not yet in force. */
  public final class Prepared implements AutoCloseable {
    private final Current next;
    private boolean isInForce;

    private Prepared(Current next) {
      this.next = next;
    }

    /** Puts the gate in force. Cannot fail. */
    public void apply() {
      var before = current;
      current = next;
      isInForce = true;
      before.keys().ifPresent(TokenKeys::close);
    }

    /** Discards a gate that was not put in force. */
    @Override
    public void close() {
      if (!isInForce) {
        next.keys().ifPresent(TokenKeys::close);
      }
    }
  }

  /**
   * Creates the gate for other credentials, without putting it in force.
   *
   * @throws KeeperException.Misconfigured if the change would open a closed server, or the keys of
   *     {@code security.jwt} cannot be read
   */
  public Prepared prepare(SecurityConfig config) {
    if (!config.isClosed() && current.isClosed()) {
      throw new KeeperException.Misconfigured(
          isLoopback(host)
              ? "security names no keys, certificates or jwt, and this server asks for credentials:"
                  + " add one of them, or restart the server to open it"
              : openOnNetwork(host));
    }
    return new Prepared(build(config));
  }

  private static String openOnNetwork(String host) {
    return "server.host is "
        + host
        + " but security names no keys, certificates or jwt: add one of them, or listen on"
        + " 127.0.0.1";
  }

  /** Returns whether callers need a credential now. */
  public boolean isClosed() {
    return current.isClosed();
  }

  /**
   * A credential that the configuration names.
   *
   * @param kind key or certificate
   * @param tenant the one tenant that it reaches
   * @param queues the only queues that it reaches
   */
  public record Credential(
      String name,
      String kind,
      List<String> roles,
      Optional<UUID> tenant,
      Optional<List<String>> queues) {
    static Credential of(String kind, Caller caller) {
      Optional<UUID> tenant =
          caller.reach().tenants() instanceof TenantFilter.Only only
              ? Optional.of(only.tenant())
              : Optional.empty();
      Optional<List<String>> queues =
          caller.reach().queues() instanceof QueueFilter.Only only && !only.queues().isEmpty()
              ? Optional.of(only.queues().stream().map(QueueName::value).sorted().toList())
              : Optional.empty();
      return new Credential(
          caller.name(),
          kind,
          caller.roles().stream().sorted().map(Role::key).toList(),
          tenant,
          queues);
    }
  }

  /** Returns the credentials that the configuration or the store names now. */
  public List<Credential> credentials() {
    return current.gate() instanceof CredentialGate gate
        ? Stream.concat(
                gate.configured().stream(),
                keys.callers().stream().map(caller -> Credential.of("key", caller)))
            .toList()
        : List.of();
  }

  /** Returns the identity provider whose tokens are accepted now. */
  public Optional<String> issuer() {
    return current.issuer();
  }

  /** Returns whether a credential of this name is configured now. */
  boolean knows(String credential) {
    return !(current.gate() instanceof CredentialGate gate) || gate.knows(credential);
  }

  /**
   * Returns the current rights of the key or certificate of this name; empty for tokens, which
   * carry their rights.
   */
  Optional<Caller> rightsOf(String credential) {
    return current.gate() instanceof CredentialGate gate
        ? gate.named(credential)
        : Optional.empty();
  }

  /**
   * Counts a request with a token against the rate limit of the credential that granted the token.
   *
   * @throws dev.sessionkeeper.server.http.ProblemException 429
   */
  void countFor(String credential) {
    if (current.gate() instanceof CredentialGate gate) {
      gate.count(credential);
    }
  }

  /** Returns the API keys in the store. */
  public StoredKeys keys() {
    return keys;
  }

  /** Returns the logins of browsers. */
  public BrowserSessions browsers() {
    return browsers;
  }

  /**
   * Checks a key or token that a person entered in a browser.
   *
   * @throws dev.sessionkeeper.server.http.ProblemException 401 if it is unknown
   */
  public BrowserSessions.Login login(String shown) {
    return switch (current.gate()) {
      case CredentialGate gate -> gate.login(shown);
      default -> new BrowserSessions.Login.ByToken(Caller.LOCAL);
    };
  }

  /** Returns whether the credential behind a login may read; every page needs that. */
  public boolean mayRead(BrowserSessions.Login login) {
    return switch (login) {
      case BrowserSessions.Login.ByToken token -> token.caller().has(Role.READ);
      case BrowserSessions.Login.ByKey key ->
          current.gate() instanceof CredentialGate gate
              && gate.callerOfDigest(key.sha256()).orElse(Caller.ANONYMOUS).has(Role.READ);
    };
  }

  /** Returns the name of the credential behind a login. */
  public String nameOf(BrowserSessions.Login login) {
    return switch (login) {
      case BrowserSessions.Login.ByToken token -> token.caller().name();
      case BrowserSessions.Login.ByKey key ->
          current.gate() instanceof CredentialGate gate
              ? gate.callerOfDigest(key.sha256()).orElse(Caller.ANONYMOUS).name()
              : Caller.LOCAL.name();
    };
  }

  @Override
  public Caller admit(Visit visit) {
    return current.gate().admit(visit);
  }

  @Override
  public Caller admitAgain(Visit visit) {
    return current.gate().admitAgain(visit);
  }

  @Override
  public void close() {
    keys.close();
    current.keys().ifPresent(TokenKeys::close);
  }

  private Current build(SecurityConfig config) {
    if (!config.isClosed()) {
      return new Current(new OpenGate(), Optional.empty(), Optional.empty());
    }
    var tokenKeys = config.jwt().map(jwt -> new TokenKeys(jwt, time));
    var tokens =
        tokenKeys.map(source -> new VerifyTokens(config.jwt().orElseThrow(), source, time));
    var limit = config.rateLimit().map(LimitRate::new);
    return new Current(
        new CredentialGate(config, keys, tokens, limit, browsers),
        tokenKeys,
        config.jwt().map(JwtConfig::issuer));
  }

  static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
