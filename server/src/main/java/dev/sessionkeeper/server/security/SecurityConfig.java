package dev.sessionkeeper.server.security;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The credentials of callers. Without keys, certificates and tokens the server is open, and listens
 * on loopback only.
 */
public record SecurityConfig(
    List<ApiKey> keys,
    List<Certificate> certificates,
    Optional<JwtConfig> jwt,
    Optional<RateLimit> rateLimit,
    Duration auditRetention) {
  public static final ConfigSection<SecurityConfig> SECTION =
      ConfigSection.of("security", SecurityConfig::read)
          .reload("keys", "certificates", "jwt", "rate_limit", "audit_retention");

  private static final Pattern SHA256 = Pattern.compile("[0-9a-fA-F]{64}");

  /** Returns whether calls need a credential. */
  public boolean isClosed() {
    return !keys.isEmpty() || !certificates.isEmpty() || jwt.isPresent();
  }

  /**
   * Returns whether a credential named here has the role admin. Tokens carry their own roles, so
   * with {@code jwt} the answer is true.
   */
  public boolean hasAdmin() {
    return jwt.isPresent()
        || keys.stream().anyMatch(key -> key.caller().has(Role.ADMIN))
        || certificates.stream().anyMatch(certificate -> certificate.caller().has(Role.ADMIN));
  }

  static SecurityConfig read(Fields in, ConfigContext context) {
    var keys = in.optional("keys", List.of(), Decode.list(0, 1000, Decode.object(ApiKey::read)));
    var certificates =
        in.optional(
            "certificates", List.of(), Decode.list(0, 1000, Decode.object(Certificate::read)));
    var jwt = in.optional("jwt", Decode.object(fields -> JwtConfig.read(fields, context)));
    var limit = in.optional("rate_limit", Decode.object(RateLimit::read));
    var retention =
        in.optional(
            "audit_retention",
            Duration.ofDays(400),
            Decode.duration(Duration.ofMinutes(1), Duration.ofDays(36_500)));
    in.check();
    refuseAmbiguous(in, keys.get(), certificates.get());
    in.check();
    return new SecurityConfig(
        keys.get(), certificates.get(), jwt.get(), limit.get(), retention.get());
  }

  /**
   * Leases, receipts, tokens, limits and the audit log know a credential by its name. So two keys
   * may share a name, for a rotation, only if they share their rights.
   */
  private static void refuseAmbiguous(
      Fields in, List<ApiKey> keys, List<Certificate> certificates) {
    var rights = new HashMap<String, Caller>();
    var digests = new HashSet<String>();
    for (var key : keys) {
      if (!digests.add(key.sha256())) {
        in.reject("keys", "name the same key twice: " + key.caller().name());
      }
      refuseOtherRights(in, "keys", key.caller(), rights);
    }
    for (var certificate : certificates) {
      refuseOtherRights(in, "certificates", certificate.caller(), rights);
    }
  }

  private static void refuseOtherRights(
      Fields in, String list, Caller caller, Map<String, Caller> rights) {
    var other = rights.putIfAbsent(caller.name(), caller);
    if (other != null && !other.equals(caller)) {
      in.reject(list, "must not give one name different rights: " + caller.name());
    }
  }

  /** A key that was shown once and is stored as its digest. */
  public record ApiKey(String sha256, Caller caller) {
    static ApiKey read(Fields in) {
      var name = in.required("name", Decode.text(100).map(ApiKey::name));
      var digest = in.required("sha256", Decode.text().map(ApiKey::digest));
      var rights = Rights.ask(in);
      in.check();
      return new ApiKey(digest.get(), rights.caller(name.get()));
    }

    /**
     * Refuses reserved names and control characters: names appear in lists, logs and the audit log,
     * where a line break could forge a line.
     */
    static String name(String text) {
      if (text.isBlank() || text.chars().anyMatch(Character::isISOControl)) {
        throw new IllegalArgumentException("must have text without control characters");
      }
      if (text.startsWith(VerifyTokens.PREFIX)
          || Set.of(Caller.LOCAL.name(), Caller.ANONYMOUS.name()).contains(text)) {
        throw new IllegalArgumentException(
            "must not be local or anonymous, and must not begin with " + VerifyTokens.PREFIX);
      }
      return text;
    }

    private static String digest(String text) {
      if (!SHA256.matcher(text).matches()) {
        throw new IllegalArgumentException("must be the SHA-256 of the key, 64 hexadecimal digits");
      }
      return text.toLowerCase(java.util.Locale.ROOT);
    }
  }

  /** A client certificate, by its subject. Its issuer is {@code server.tls.client_authority}. */
  public record Certificate(String subject, Caller caller) {
    static Certificate read(Fields in) {
      var subject = in.required("subject", Decode.text(500));
      var rights = Rights.ask(in);
      in.check();
      return new Certificate(subject.get(), rights.caller(subject.get()));
    }
  }

  /** The most requests in a time span, for each credential. */
  public record RateLimit(int requests, Duration per) {
    static RateLimit read(Fields in) {
      var requests = in.required("requests", Decode.integer(1, 1_000_000));
      var per =
          in.optional(
              "per",
              Duration.ofSeconds(1),
              Decode.duration(Duration.ofMillis(100), Duration.ofDays(1)));
      in.check();
      return new RateLimit(requests.get(), per.get());
    }
  }

  /** The fields that define a credential's rights. */
  private record Rights(
      dev.sessionkeeper.server.json.Field<List<Role>> roles,
      dev.sessionkeeper.server.json.Field<Optional<java.util.UUID>> tenant,
      dev.sessionkeeper.server.json.Field<Optional<List<QueueName>>> queues) {
    static Rights ask(Fields in) {
      return new Rights(
          in.required("roles", Decode.list(1, 10, role())),
          in.optional("tenant", Decode.guid().map(TenantIds::require)),
          in.optional("queues", Decode.list(1, 1000, Decode.text().map(QueueName::of))));
    }

    Caller caller(String name) {
      return new Caller(
          name, Set.copyOf(roles.get()), Reach.of(tenant.get(), queues.get().map(HashSet::new)));
    }
  }

  static Decoder<Role> role() {
    Map<String, Role> words = new LinkedHashMap<>(Decode.words(Role.class, Role::key));
    words.remove(Role.ANYONE.key());
    return Decode.oneOf(words);
  }
}
