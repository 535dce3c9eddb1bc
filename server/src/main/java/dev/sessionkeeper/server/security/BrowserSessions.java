package dev.sessionkeeper.server.security;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.QueueFilter;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.TenantFilter;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Keeps browser logins in cookies that only servers of one store can create. The server stores no
 * logins, so reading a cookie never waits.
 *
 * <p>The cookie of an API key contains the key's digest, so removing the key by a reload ends the
 * login at once. The cookie of a token contains the token's rights. Safe for use by many threads.
 */
public final class BrowserSessions {
  /** The cookie's name on unencrypted connections. */
  public static final String PLAIN_NAME = "keeper";

  /** The cookie's name over TLS, which binds it to this host. */
  public static final String SECURE_NAME = "__Host-keeper";

  private static final String CONTEXT = "login";
  private static final String SEPARATOR = "\n";

  private final TimeSource time;
  private volatile SignTexts cookies;
  private volatile SignTexts forms;

  BrowserSessions(TimeSource time) {
    this.time = time;
    var own = ServerSecret.ofThisProcess();
    this.cookies = own.signing("browser-cookie");
    this.forms = own.signing("browser-form");
  }

  /** Signs with the store's secret from now on, so that every server accepts the cookies. */
  public void use(ServerSecret secret) {
    cookies = secret.signing("browser-cookie");
    forms = secret.signing("browser-form");
  }

  /** The login behind a cookie. */
  public sealed interface Login {
    /** An API key, by its digest. */
    record ByKey(String sha256) implements Login {}

    /**
     * The rights of a token.
     *
     * @param until when the token expires
     */
    record ByToken(Caller caller, Instant until) implements Login {
      /** Creates the login of a token that does not expire. */
      public ByToken(Caller caller) {
        this(caller, Instant.MAX);
      }

      /** Returns whether the token has none of the server's roles, so that no page would open. */
      public boolean hasNoRole() {
        return caller.roles().isEmpty();
      }
    }
  }

  /**
   * Returns the cookie value of a login with this lifetime, at most that of its token. It is valid
   * under this name only.
   */
  public String cookie(Login login, String name, Duration life) {
    var until = time.instant().plus(life);
    if (login instanceof Login.ByToken token && token.until().isBefore(until)) {
      until = token.until();
    }
    return cookies.sign(until.getEpochSecond() + SEPARATOR + text(login), CONTEXT, name);
  }

  /** Returns the login in the cookies of a request; empty if there is none, or it has expired. */
  public Optional<Login> read(String cookieHeader) {
    return nameIn(cookieHeader)
        .flatMap(
            name ->
                value(cookieHeader, name)
                    .flatMap(value -> cookies.verify(value, CONTEXT, name))
                    .flatMap(this::parse));
  }

  /**
   * Returns the token that this browser's forms carry, so that pages of other sites cannot submit
   * them.
   */
  public String formToken(String cookieHeader, String caller) {
    return forms.sign("", value(cookieHeader).orElse(""), caller);
  }

  public boolean isFormToken(String token, String cookieHeader, String caller) {
    return forms.verify(token, value(cookieHeader).orElse(""), caller).isPresent();
  }

  /**
   * Derives a secret from a public text that no browser can compute: 43 to 128 characters of Base64
   * for URLs, as PKCE requires.
   */
  public String secretOf(String text, String purpose) {
    return forms.sign(text, "secret", purpose);
  }

  /** Signs a text with a lifetime, for the state of a login or a dry run. */
  public String seal(String text, Duration life, String purpose) {
    return forms.sign(
        time.instant().plus(life).truncatedTo(ChronoUnit.SECONDS) + SEPARATOR + text, purpose);
  }

  /**
   * Returns the text of {@link #seal}; empty if it has expired, or was sealed for another purpose
   * or elsewhere.
   */
  public Optional<String> unseal(String handle, String purpose) {
    return forms
        .verify(handle, purpose)
        .map(text -> text.split(SEPARATOR, 2))
        .filter(parts -> time.instant().isBefore(Instant.parse(parts[0])))
        .map(parts -> parts[1]);
  }

  private static Optional<String> value(String cookieHeader) {
    return nameIn(cookieHeader).flatMap(name -> value(cookieHeader, name));
  }

  /**
   * Returns the name of the cookie that only this host can have set, if there is one: the network
   * may plant a cookie of the plain name, with the login of another person.
   */
  private static Optional<String> nameIn(String cookieHeader) {
    return Stream.of(SECURE_NAME, PLAIN_NAME)
        .filter(name -> value(cookieHeader, name).isPresent())
        .findFirst();
  }

  private static Optional<String> value(String cookieHeader, String name) {
    return Arrays.stream(cookieHeader.split(";", -1))
        .map(String::strip)
        .filter(pair -> pair.startsWith(name + "="))
        .map(pair -> pair.substring(name.length() + 1))
        .findFirst();
  }

  private static String text(Login login) {
    return switch (login) {
      case Login.ByKey key -> "key" + SEPARATOR + key.sha256();
      case Login.ByToken token -> text(token.caller());
    };
  }

  private static String text(Caller caller) {
    var tenant =
        caller.reach().tenants() instanceof TenantFilter.Only only ? only.tenant().toString() : "";
    var queues =
        caller.reach().queues() instanceof QueueFilter.Only only
            ? only.queues().stream().map(QueueName::value).collect(Collectors.joining(","))
            : "*";
    var roles = caller.roles().stream().map(Role::name).collect(Collectors.joining(","));
    return String.join(SEPARATOR, "token", roles, tenant, queues, caller.name());
  }

  private Optional<Login> parse(String text) {
    var parts = text.split(SEPARATOR, -1);
    var until = Instant.ofEpochSecond(Long.parseLong(parts[0]));
    if (until.isBefore(time.instant())) {
      return Optional.empty();
    }
    return Optional.of(
        parts[1].equals("key")
            ? new Login.ByKey(parts[2])
            : new Login.ByToken(caller(parts, until)));
  }

  private static Caller caller(String[] parts, Instant until) {
    var roles = EnumSet.noneOf(Role.class);
    split(parts[2]).forEach(role -> roles.add(Role.valueOf(role)));
    Optional<UUID> tenant =
        parts[3].isEmpty() ? Optional.empty() : Optional.of(UUID.fromString(parts[3]));
    Optional<Set<QueueName>> queues =
        parts[4].equals("*") || (tenant.isPresent() && parts[4].isEmpty())
            ? Optional.empty()
            : Optional.of(split(parts[4]).stream().map(QueueName::of).collect(Collectors.toSet()));
    return new Caller(parts[5], roles, Reach.of(tenant, queues), Optional.of(until));
  }

  private static Set<String> split(String text) {
    return text.isEmpty() ? Set.of() : Set.copyOf(Arrays.asList(text.split(",", -1)));
  }
}
