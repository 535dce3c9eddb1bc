package dev.sessionkeeper.server.security;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/** Creates, lists and revokes API keys. A key is shown once, in the answer that creates it. */
public final class KeyRoutes {
  private static final Scope SCOPE = Scope.server("API keys");
  private static final Duration SHORTEST = Duration.ofMinutes(1);
  private static final Duration LONGEST = Duration.ofDays(3_650);

  private final Guard guard;
  private final KeyTable keys;
  private final Supplier<Map<String, Instant>> lastUses;
  private final Runnable afterRevocation;
  private final TimeSource time;

  private KeyRoutes(
      Guard guard,
      KeyTable keys,
      Supplier<Map<String, Instant>> lastUses,
      Runnable afterRevocation,
      TimeSource time) {
    this.guard = guard;
    this.keys = keys;
    this.lastUses = lastUses;
    this.afterRevocation = afterRevocation;
    this.time = time;
  }

  /**
   * Returns the routes; none on servers without a database.
   *
   * @param lastUses when each credential was last used, by its name
   * @param afterRevocation judges running requests again
   */
  public static List<Route> routes(
      Guard guard,
      Supplier<Map<String, Instant>> lastUses,
      Runnable afterRevocation,
      TimeSource time) {
    return guard
        .keys()
        .table()
        .map(table -> new KeyRoutes(guard, table, lastUses, afterRevocation, time).routes())
        .orElse(List.of());
  }

  private List<Route> routes() {
    return List.of(
        Route.post("/keys", Role.ADMIN, SCOPE, this::create)
            .summary("Create an API key; the answer shows it once. Audited")
            .takes(Wish.class)
            .answers(201, "The key", Created.class)
            .problems(ProblemType.CONFLICT),
        Route.get("/keys", Role.ADMIN, SCOPE, this::list)
            .summary(
                "The API keys of the store with rights, expiry and last use; revoked ones last")
            .answers(200, "The keys, without their secrets", Listing.class),
        Route.delete("/keys/{key}", Role.ADMIN, SCOPE, this::revoke)
            .summary("Revoke an API key, by its name or prefix. Audited")
            .answers(200, "The revoked key", Item.class)
            .problems(ProblemType.NOT_FOUND));
  }

  /**
   * The key to create.
   *
   * @param expiresIn how long the key is valid; without it the key never expires
   */
  record Wish(
      String name,
      List<String> roles,
      Optional<UUID> tenant,
      Optional<List<String>> queues,
      Optional<Duration> expiresIn) {
    static Wish read(Fields in) {
      var name = in.required("name", Decode.text(100).map(SecurityConfig.ApiKey::name));
      var roles = in.required("roles", Decode.list(1, 10, SecurityConfig.role().map(Role::key)));
      var tenant = in.optional("tenant", Decode.guid().map(TenantIds::require));
      var queues =
          in.optional(
              "queues",
              Decode.list(1, 1000, Decode.text().map(text -> QueueName.of(text).value())));
      var expires = in.optional("expiresIn", Decode.duration(SHORTEST, LONGEST));
      in.check();
      return new Wish(name.get(), roles.get(), tenant.get(), queues.get(), expires.get());
    }

    private List<Role> granted() {
      return roles.stream().map(role -> Role.valueOf(role.toUpperCase(Locale.ROOT))).toList();
    }
  }

  /** A key as lists show it. */
  record Item(
      String prefix,
      String name,
      List<String> roles,
      Optional<UUID> tenant,
      Optional<List<String>> queues,
      Instant createdAt,
      String createdBy,
      Optional<Instant> expiresAt,
      Optional<Instant> revokedAt,
      Optional<Instant> lastUsedAt) {
    static Item of(StoredKey key, Optional<Instant> lastUsed) {
      return new Item(
          key.prefix(),
          key.name(),
          key.roles().stream().map(Role::key).toList(),
          key.tenant(),
          key.queues(),
          key.createdAt(),
          key.createdBy(),
          key.expiresAt(),
          key.revokedAt(),
          lastUsed);
    }
  }

  /** All keys. */
  record Listing(List<Item> keys) {}

  /**
   * A created key.
   *
   * @param key the secret itself; no other answer shows it
   */
  record Created(String key, String prefix, String name, Optional<Instant> expiresAt) {}

  private Response create(Request request) {
    var wish = request.json(Wish::read);
    if (!guard.isClosed()) {
      throw ProblemType.CONFLICT
          .with(
              "This server asks for no credentials. Put a first key with the role admin into"
                  + " security.keys, restart, and create further keys with it")
          .toException();
    }
    var generated = ApiKeys.generate();
    var now = time.instant();
    var key =
        new StoredKey(
            generated.prefix(),
            wish.name(),
            generated.sha256(),
            wish.granted(),
            wish.tenant(),
            wish.queues(),
            now,
            request.actor().name(),
            wish.expiresIn().map(now::plus),
            Optional.empty());
    if (guard.knows(wish.name()) || !keys.add(key, request.actor())) {
      throw ProblemType.CONFLICT
          .with("There is a credential with the name " + wish.name())
          .toException();
    }
    guard.keys().refresh();
    return Response.created(
        new Created(generated.key(), key.prefix(), key.name(), key.expiresAt()));
  }

  private Response list(Request request) {
    var seen = lastUses.get();
    return Response.ok(
        new Listing(
            keys.all().stream()
                .map(key -> Item.of(key, Optional.ofNullable(seen.get(key.name()))))
                .toList()));
  }

  private Response revoke(Request request) {
    var named = request.parameter("key");
    var gone =
        keys.revoke(named, request.actor())
            .orElseThrow(
                () -> ProblemType.NOT_FOUND.with("There is no API key " + named).toException());
    guard.keys().refresh();
    afterRevocation.run();
    return Response.ok(Item.of(gone, Optional.empty()));
  }
}
