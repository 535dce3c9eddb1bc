package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.security.ApiKeys;
import dev.sessionkeeper.server.security.Guard;
import dev.sessionkeeper.server.security.SecurityConfig;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Submits every form of the dashboard with every role, bound to the whole server, to one queue, to
 * another one and to a tenant. The server decides, whatever the page shows.
 */
class PageAccessTest {
  private static final String TENANT = "8d2a4c1e-1111-4222-8333-444455556666";
  private static final List<Role> ROLES =
      List.of(Role.READ, Role.SEND, Role.CONSUME, Role.OPERATE, Role.ADMIN);

  /** The objects that a credential is bound to. */
  private enum Bound {
    NOTHING(""),
    QUEUE(", queues: [mine]"),
    OTHER_QUEUE(", queues: [other]"),
    TENANT(", tenant: " + PageAccessTest.TENANT);

    private final String yaml;

    Bound(String yaml) {
      this.yaml = yaml;
    }
  }

  /** The owner of an act's object. */
  private enum Of {
    QUEUE,
    /** The queue is named in the form, not in the path. */
    QUEUE_IN_FORM,
    /** Any credential of queues may call; rows are filtered. */
    QUEUES,
    TENANTS,
    STREAM,
    SERVER
  }

  private record Act(String route, String path, Role role, Of of, String fields) {}

  private static final List<Act> ACTS =
      List.of(
          act(
              "/ui/queues",
              Role.ADMIN,
              Of.QUEUE_IN_FORM,
              "name=mine&mode=ORDERED&poisonPolicy=DEAD_LETTER&maxDeliveryCount=4&reason=x"),
          act(
              "/ui/queues/{queue}",
              Role.ADMIN,
              Of.QUEUE,
              "poisonPolicy=PARK_SESSION&maxDeliveryCount=5&reason=x"),
          act("/ui/queues/{queue}/session", Role.OPERATE, Of.QUEUE, "id=a&act=pause&reason=x"),
          act("/ui/queues/{queue}/session", Role.OPERATE, Of.QUEUE, "id=a&act=resume&reason=x"),
          act("/ui/queues/{queue}/session", Role.OPERATE, Of.QUEUE, "id=a&act=park&reason=x"),
          act("/ui/queues/{queue}/session", Role.OPERATE, Of.QUEUE, "id=a&act=release&reason=x"),
          act(
              "/ui/queues/{queue}/session",
              Role.OPERATE,
              Of.QUEUE,
              "id=a&act=deadLetterHead&reason=x"),
          act(
              "/ui/queues/{queue}/session",
              Role.OPERATE,
              Of.QUEUE,
              "id=a&act=deadLetterAll&reason=x&count=1&typed=1"),
          act(
              "/ui/queues/{queue}/dead-letters/replay",
              Role.OPERATE,
              Of.QUEUE,
              "session=a&reason=x"),
          act(
              "/ui/queues/{queue}/dead-letters/{id}/repair",
              Role.OPERATE,
              Of.QUEUE,
              "body={}&sha256=0&then=save&reasonSave=x"),
          act(
              "/ui/queues/{queue}/dead-letters/{id}/replay",
              Role.OPERATE,
              Of.QUEUE,
              "messageId=m&reason=x"),
          act(
              "/ui/queues/{queue}/dead-letters/{id}/discard",
              Role.OPERATE,
              Of.QUEUE,
              "count=1&typed=1&reason=x"),
          act("/ui/bulk/count", Role.OPERATE, Of.QUEUE_IN_FORM, "queue=mine&act=replay"),
          act(
              "/ui/bulk/start",
              Role.OPERATE,
              Of.QUEUE_IN_FORM,
              "queue=mine&act=replay&token=x&reason=x&count=0&typed=0"),
          act("/ui/bulk/{id}/stop", Role.OPERATE, Of.QUEUES, "reason=x"),
          act("/ui/bulk/count", Role.OPERATE, Of.QUEUES, "act=replayEvents&repository=acme/app"),
          act(
              "/ui/bulk/start",
              Role.OPERATE,
              Of.QUEUES,
              "act=replayEvents&repository=acme/app&token=x&reason=x&count=0&typed=0"),
          act("/ui/events/{id}/replay", Role.OPERATE, Of.QUEUES, "reason=x"),
          act("/ui/bots", Role.READ, Of.QUEUES, "type=push&payload={}"),
          act(
              "/ui/registry",
              Role.SEND,
              Of.TENANTS,
              "id=00000000-0000-4000-8000-000000000009&act=end&reason=x"),
          act(
              "/ui/usage/replay",
              Role.OPERATE,
              Of.TENANTS,
              "id=00000000-0000-4000-8000-000000000009&reason=x"),
          act(
              "/ui/usage/ledger",
              Role.OPERATE,
              Of.TENANTS,
              "id=00000000-0000-4000-8000-000000000009:1&factor=1.5&reason=x"),
          act("/ui/usage/release", Role.OPERATE, Of.SERVER, "reason=x"),
          act("/ui/jobs/{name}", Role.OPERATE, Of.SERVER, "act=pause&reason=x"),
          act("/ui/streams/{stream}", Role.SEND, Of.STREAM, "event=hello&data={}"),
          act("/ui/system/reload", Role.ADMIN, Of.SERVER, "reason=x"));

  private static Act act(String route, Role role, Of of, String fields) {
    var path =
        route
            .replace("{queue}", "mine")
            .replace("{id}", "00000000-0000-4000-8000-000000000001")
            .replace("{name}", "queue-housekeeping")
            .replace("{stream}", "news");
    return new Act(route, path, role, of, fields);
  }

  private static final TestDatabase DATABASE = TestDatabase.create();
  private static final ApiKeys.Generated BOSS = ApiKeys.generate();
  private static final Map<String, ApiKeys.Generated> KEYS = new java.util.LinkedHashMap<>();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static TestServer server;
  private static Guard guard;

  @BeforeAll
  static void start() {
    var yaml = new StringBuilder("security:\n  keys:\n");
    yaml.append(line("boss", BOSS, Role.ADMIN, Bound.NOTHING));
    for (var role : ROLES) {
      for (var bound : Bound.values()) {
        var key = ApiKeys.generate();
        KEYS.put(name(role, bound), key);
        yaml.append(line(name(role, bound), key, role, bound));
      }
    }
    server = TestServer.start(yaml.toString(), DATABASE.environment());
    for (var queue : List.of("mine", "other")) {
      server.send(
          "PUT",
          "/queues/" + queue,
          Optional.of("{\"mode\":\"ORDERED\"}"),
          "Authorization",
          "Bearer " + BOSS.key());
    }
    // Signs cookies and forms with the store's secret, as the server does.
    var config =
        ReadConfig.from(
            new ConfigSources(
                "test", yaml.toString(), Path.of(""), DATABASE.environment(), Map.of()));
    guard = new Guard(config.get(SecurityConfig.SECTION), "127.0.0.1", TimeSource.system());
    guard.browsers().use(ServerSecret.in(Database.of(DATABASE.source())));
  }

  @AfterAll
  static void stop() {
    guard.close();
    server.close();
  }

  private static String name(Role role, Bound bound) {
    return role.key() + "-" + bound.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  private static String line(String name, ApiKeys.Generated key, Role role, Bound bound) {
    return "    - {name: %s, sha256: %s, roles: [%s]%s}%n"
        .formatted(name, key.sha256(), role.key(), bound.yaml);
  }

  private static HttpResponse<String> post(ApiKeys.Generated key, String name, Act act) {
    var cookie =
        "keeper=" + guard.browsers().cookie(guard.login(key.key()), "keeper", Duration.ofHours(1));
    var form = act.fields() + "&_csrf=" + guard.browsers().formToken(cookie, name);
    try {
      return CLIENT.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + act.path()))
              .header("Cookie", cookie)
              .header("Sec-Fetch-Site", "same-origin")
              .header("Content-Type", "application/x-www-form-urlencoded")
              .POST(HttpRequest.BodyPublishers.ofString(form))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean isAllowed(Act act, Role role, Bound bound) {
    boolean hasRole = act.role().isGrantedBy(Set.of(role));
    boolean isInReach =
        switch (act.of()) {
          case QUEUE, QUEUE_IN_FORM -> bound == Bound.NOTHING || bound == Bound.QUEUE;
          case QUEUES -> true;
          case TENANTS -> bound == Bound.NOTHING || bound == Bound.TENANT;
          case STREAM, SERVER -> bound == Bound.NOTHING;
        };
    return hasRole && isInReach;
  }

  @Test
  void everyFormIsHere() {
    var served =
        server.server().routes().all().stream()
            .filter(route -> route.isPage() && route.method().equals("POST"))
            .filter(route -> route.role() != Role.ANYONE)
            .map(route -> route.path() + " " + route.role())
            .collect(Collectors.toSet());
    assertThat(ACTS.stream().map(act -> act.route() + " " + act.role()).collect(Collectors.toSet()))
        .isEqualTo(served);
  }

  /** Acts that need no reason: they only read, or change data of a program. */
  private static final Set<String> WITHOUT_REASON =
      Set.of("/ui/bulk/count", "/ui/bots", "/ui/streams/{stream}");

  @Test
  void noActIsDoneWithoutAReason() {
    var name = name(Role.ADMIN, Bound.NOTHING);
    for (var act : ACTS) {
      if (WITHOUT_REASON.contains(act.route())) {
        continue;
      }
      var fields = act.fields().replaceAll("reason(Save)?=x", "reason$1=");
      var response =
          post(
              KEYS.get(name), name, new Act(act.route(), act.path(), act.role(), act.of(), fields));
      assertThat(response.statusCode()).as(act.toString()).isEqualTo(400);
      assertThat(response.body()).as(act.toString()).contains("reason");
    }
  }

  @Test
  void theReasonOfAnActIsInTheAuditLog() {
    var name = name(Role.ADMIN, Bound.NOTHING);
    for (var act : ACTS) {
      if (act.of() == Of.SERVER && act.fields().startsWith("act=pause")) {
        var why = act.fields().replace("reason=x", "reason=noisy+neighbour");
        post(KEYS.get(name), name, new Act(act.route(), act.path(), act.role(), act.of(), why));
      }
    }
    var audit =
        server.send(
            "GET",
            "/audit?action=job.pause",
            Optional.empty(),
            "Authorization",
            "Bearer " + BOSS.key());
    assertThat(audit.body()).contains("\"reason\":\"noisy neighbour");
  }

  @Test
  void theReasonsOfAReplayAndADiscardAreInTheAuditLog() {
    var name = name(Role.ADMIN, Bound.NOTHING);
    for (var n : List.of("1", "2")) {
      boss(
          "/queues/other/messages",
          "{\"messages\":[{\"sessionId\":\"s\",\"messageId\":\"m%s\",\"body\":{}}]}".formatted(n));
      boss(
          "/queues/other/sessions/actions",
          "{\"sessionId\":\"s\",\"action\":\"deadLetterAll\",\"reason\":\"x\"}");
    }
    var letters = "/ui/queues/other/dead-letters/";
    var replay = "messageId=m1&session=s&reason=the+parser+is+mended";
    var discard = "count=1&typed=1&reason=the+order+was+cancelled";
    assertThat(post(KEYS.get(name), name, form(letters + "1/replay", replay)).statusCode())
        .isEqualTo(303);
    assertThat(post(KEYS.get(name), name, form(letters + "2/discard", discard)).statusCode())
        .isEqualTo(303);
    assertThat(audit("dead-letters.replay")).contains("\"reason\":\"the parser is mended");
    assertThat(audit("dead-letters.discard")).contains("\"reason\":\"the order was cancelled");
  }

  private static Act form(String path, String fields) {
    return new Act(path, path, Role.OPERATE, Of.QUEUE, fields);
  }

  private static void boss(String path, String json) {
    var reply =
        server.send("POST", path, Optional.of(json), "Authorization", "Bearer " + BOSS.key());
    assertThat(reply.status()).as(reply.body()).isLessThan(300);
  }

  private static String audit(String action) {
    return server
        .send(
            "GET",
            "/audit?action=" + action,
            Optional.empty(),
            "Authorization",
            "Bearer " + BOSS.key())
        .body();
  }

  @Test
  void aReasonInAHeaderIsInTheAuditLog() {
    var paused =
        server.send(
            "POST",
            "/jobs/session-expiry/pause",
            Optional.empty(),
            "Authorization",
            "Bearer " + BOSS.key(),
            "Keeper-Reason",
            "f%C3%BCr%20Anna");
    assertThat(paused.status()).isEqualTo(200);
    var audit =
        server.send(
            "GET",
            "/audit?action=job.pause&target=session-expiry",
            Optional.empty(),
            "Authorization",
            "Bearer " + BOSS.key());
    assertThat(audit.body()).contains("\"reason\":\"für Anna");
    assertThat(
            server
                .send(
                    "POST",
                    "/jobs/session-expiry/pause",
                    Optional.empty(),
                    "Authorization",
                    "Bearer " + BOSS.key(),
                    "Keeper-Reason",
                    "%ZZ")
                .status())
        .isEqualTo(400);
  }

  @Test
  void aFormDoesWhatTheCredentialMayDoAndNothingElse() {
    var wrong = new ArrayList<String>();
    for (var act : ACTS) {
      for (var role : ROLES) {
        for (var bound : Bound.values()) {
          var name = name(role, bound);
          var response = post(KEYS.get(name), name, act);
          boolean isRefused =
              response.statusCode() == 403
                  || (response.statusCode() == 404
                      && (response.body().contains("There is no queue mine")
                          || response.body().contains("There is no such stream")));
          if (isRefused == isAllowed(act, role, bound) || response.statusCode() >= 500) {
            wrong.add(name + " " + act + ": " + response.statusCode());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void whatWasRefusedHasChangedNothing() {
    aFormDoesWhatTheCredentialMayDoAndNothingElse();
    for (var role : ROLES) {
      for (var bound : Bound.values()) {
        var mayAct =
            ACTS.stream().anyMatch(act -> isAllowed(act, role, bound) && act.role() != Role.READ);
        if (!mayAct) {
          var entries =
              server.send(
                  "GET",
                  "/audit?actor=" + name(role, bound),
                  Optional.empty(),
                  "Authorization",
                  "Bearer " + BOSS.key());
          assertThat(
                  entries
                      .json()
                      .path("entries")
                      .valueStream()
                      .map(entry -> entry.path("action").asString()))
              .as(name(role, bound))
              .allMatch(action -> action.startsWith("access.") || action.startsWith("http."));
        }
      }
    }
  }

  @Test
  void aCookieThatIsOverAndAKeyThatIsGoneOpenNothing() {
    var key = KEYS.get(name(Role.ADMIN, Bound.NOTHING));
    var over = guard.browsers().cookie(guard.login(key.key()), "keeper", Duration.ofSeconds(-1));
    var good = guard.browsers().cookie(guard.login(key.key()), "keeper", Duration.ofHours(1));
    assertThat(get("keeper=" + good)).isEqualTo(200);
    assertThat(get("keeper=" + over)).isEqualTo(303);
    assertThat(get("keeper=" + good.substring(1))).isEqualTo(303);
    assertThat(get("")).isEqualTo(303);
  }

  private static int get(String cookie) {
    return server.send("GET", "/ui/queues", Optional.empty(), "Cookie", cookie).status();
  }
}
