package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replays attacks that once succeeded. Each test counts its successes and expects none. */
class AttacksTest {
  private static final ApiKeys.Generated ADMIN = ApiKeys.generate();
  private static final ApiKeys.Generated QUEUE = ApiKeys.generate();
  private static final ApiKeys.Generated TENANT = ApiKeys.generate();
  private static final ApiKeys.Generated ALICE = ApiKeys.generate();
  private static final ApiKeys.Generated MALLORY = ApiKeys.generate();
  private static final ApiKeys.Generated READER = ApiKeys.generate();
  private static final ApiKeys.Generated SUBSCRIBER = ApiKeys.generate();
  private static final String NIL = "00000000-0000-0000-0000-000000000000";
  private static final String OTHER_TENANT = "00000000-0000-4000-8000-000000000001";

  @TempDir static Path folder;
  private static TestTokens tokens;
  private static TestServer server;
  private static Inventory inventory;

  @BeforeAll
  static void start() throws Exception {
    tokens = TestTokens.in(folder);
    var yaml =
        """
        usage: { interval: 1s }
        github: { secrets: [ "%s" ] }
        bots: [ { name: mine, events: ["*"], ordering_scope: entity }, { name: other, events: ["*"], ordering_scope: entity } ]
        security:
        """
                .formatted(Inventory.SECRET)
            + tokens.yaml("")
            + "  keys:\n"
            + key("admin", ADMIN, "admin", "")
            + key("queue", QUEUE, "read, send, consume, operate", ", queues: [other]")
            + key("tenant", TENANT, "read, send, operate", ", tenant: " + OTHER_TENANT)
            + key("alice", ALICE, "consume", ", queues: [mine, mine-loose]")
            + key("mallory", MALLORY, "consume", ", queues: [mine, mine-loose]")
            + key("reader", READER, "read", "")
            + key("subscriber", SUBSCRIBER, "read, consume", "");
    server = TestServer.start(yaml, TestDatabase.create().environment());
    inventory = new Inventory(server, ADMIN);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String key(String name, ApiKeys.Generated key, String roles, String more) {
    return "    - { name: %s, sha256: %s, roles: [%s]%s }\n"
        .formatted(name, key.sha256(), roles, more);
  }

  private static TestServer.Reply call(
      String credential, String method, String path, String json, String... headers) {
    var all = new ArrayList<>(List.of(headers));
    all.addAll(List.of("Authorization", "Bearer " + credential));
    return server.send(
        method,
        path,
        Optional.of(json).filter(text -> !text.isEmpty()),
        all.toArray(String[]::new));
  }

  private static String put(String tenant) {
    return put(UUID.randomUUID(), tenant, UUID.randomUUID());
  }

  private static String put(UUID user, String tenant, UUID capacity) {
    return "{\"userObjectId\":\"%s\",\"tenantObjectId\":\"%s\",\"capacityId\":\"%s\",\"sessionKind\":1}"
        .formatted(user, tenant, capacity);
  }

  @Test
  void aKeyOfOneQueueReachesNoTenantNoJobAndNoCredential() {
    var session =
        call(ADMIN.key(), "PUT", "/sessions", put(Inventory.TENANT))
            .json()
            .get("sessionId")
            .asString();
    var record = inventory.record("/usages/corrections");
    var batch = inventory.path("/usages/batches/{id}/replay");
    var successes = new ArrayList<String>();
    for (var attack :
        List.of(
            List.of("GET", "/sessions", ""),
            List.of("GET", "/sessions?tenantObjectId=" + Inventory.TENANT, ""),
            List.of("GET", "/sessions/" + session, ""),
            List.of("POST", "/sessions/" + session + "/renew", ""),
            List.of("GET", "/usages", ""),
            List.of("GET", "/usages/proof", ""),
            List.of("GET", "/usages/batches", ""),
            List.of("POST", batch, ""),
            List.of("PUT", "/sessions", put(Inventory.TENANT)),
            List.of("DELETE", "/sessions/" + session, ""),
            List.of(
                "POST",
                "/usages/corrections",
                "{\"recordId\":\"%s\",\"factor\":0,\"reason\":\"gift\"}".formatted(record)),
            List.of("POST", "/usages/hold/release", ""),
            List.of("GET", "/jobs", ""),
            List.of("GET", "/jobs/dead-letter-retention", ""),
            List.of("POST", "/jobs/dead-letter-retention/pause", ""),
            List.of("GET", "/credentials", ""),
            List.of("GET", "/metrics", ""),
            List.of("GET", "/streams/mine/subscribers", ""))) {
      var reply = call(QUEUE.key(), attack.get(0), attack.get(1), attack.get(2));
      if (reply.status() != 403 && reply.status() != 404) {
        successes.add(attack.get(0) + " " + attack.get(1) + ": " + reply.status());
      }
    }
    assertThat(successes).isEmpty();
    assertThat(
            call(ADMIN.key(), "GET", "/sessions/" + session, "").json().get("isActive").asBoolean())
        .isTrue();
  }

  @Test
  void aTenantThatAsksForAnotherOneDoesNotGetTheNilTenant() {
    assertThat(call(ADMIN.key(), "PUT", "/sessions", put(NIL)).status()).isEqualTo(201);
    for (var path :
        List.of(
            "/sessions?tenantObjectId=" + Inventory.TENANT,
            "/sessions?tenantObjectId=" + NIL,
            "/usages?tenantObjectId=" + Inventory.TENANT,
            "/usages/proof?tenantObjectId=" + Inventory.TENANT,
            "/usages/batches?tenantObjectId=" + Inventory.TENANT)) {
      var reply = call(TENANT.key(), "GET", path, "");
      assertThat(reply.status()).as(path).isEqualTo(200);
      assertThat(reply.body()).as(path).doesNotContain(NIL, Inventory.TENANT);
    }
  }

  @Test
  void aPutForAnotherTenantDoesNotTellWhichSessionsItHas() {
    var user = UUID.randomUUID();
    var capacity = UUID.randomUUID();
    var held = put(user, Inventory.TENANT, capacity);
    var session = call(ADMIN.key(), "PUT", "/sessions", held).json().get("sessionId").asString();
    var foreign = call(TENANT.key(), "PUT", "/sessions", held);
    assertThat(foreign.status()).isEqualTo(403);
    var stranger = UUID.randomUUID().toString();
    for (var tenant : List.of(Inventory.TENANT, NIL, stranger)) {
      var unknown = call(TENANT.key(), "PUT", "/sessions", put(tenant));
      assertThat(withoutId(unknown)).as(tenant).isEqualTo(withoutId(foreign));
    }
    var begun = call(ADMIN.key(), "GET", "/sessions?tenantObjectId=" + stranger, "").json();
    assertThat(begun.get("sessions")).isEmpty();

    // There can be one session of a user on a capacity, so this cannot be answered with a session.
    var own = call(TENANT.key(), "PUT", "/sessions", put(user, OTHER_TENANT, capacity));
    assertThat(own.problem()).isEqualTo("tenant-mismatch");
    assertThat(own.body()).doesNotContain(Inventory.TENANT, session);
    assertThat(
            call(ADMIN.key(), "GET", "/sessions/" + session, "").json().get("isActive").asBoolean())
        .isTrue();
  }

  private static String withoutId(TestServer.Reply reply) {
    return reply.status() + reply.body().replaceFirst("\"correlationId\":\"[^\"]*\"", "");
  }

  @Test
  void aTokenWithoutAUsableTenantIsRefused() {
    var forged =
        List.of(
            tokens.token(claims -> claims),
            tokens.token(claims -> claims.claim("tenant", null)),
            tokens.token(claims -> claims.claim("tenant", "")),
            tokens.token(claims -> claims.claim("tenant", NIL)),
            tokens.token(claims -> claims.claim("tenant", "1-1-1-1-1")),
            tokens.token(claims -> claims.claim("tenant", 7)),
            tokens.token(claims -> claims.claim("tenant", List.of(OTHER_TENANT))));
    for (int i = 0; i < forged.size(); i++) {
      var reply = call(forged.get(i), "GET", "/sessions", "");
      assertThat(reply.status()).as("token %d: %s", i, reply).isEqualTo(401);
      assertThat(reply.json().get("detail").asString()).contains("tenant");
    }
    var own = tokens.token(claims -> claims.claim("tenant", OTHER_TENANT));
    assertThat(call(own, "GET", "/sessions", "").status()).isEqualTo(200);
  }

  @Test
  void aTokenCannotTakeTheNameOfAKey() {
    for (var subject : List.of("", " ", "x".repeat(500), "a\nb")) {
      var token = tokens.token(c -> c.claim("tenant", OTHER_TENANT).subject(subject));
      assertThat(call(token, "GET", "/sessions", "").status()).as(subject).isEqualTo(401);
    }
    var token = tokens.token(c -> c.claim("tenant", OTHER_TENANT).subject("never-used-key"));
    assertThat(call(token, "GET", "/sessions", "").status()).isEqualTo(200);
    await()
        .untilAsserted(
            () ->
                assertThat(call(ADMIN.key(), "GET", "/credentials", "").body())
                    .contains("\"token:never-used-key\"")
                    .doesNotContain("\"never-used-key\""));
  }

  @Test
  void aLeaseOfAnotherConsumerCannotBeUsedWithAForgedOrStolenId() {
    inventory.ask(
        "POST",
        "/queues/mine/messages",
        "{\"messages\":[{\"sessionId\":\"loot\",\"body\":\"gold\"}]}");
    var lease = call(ALICE.key(), "POST", "/queues/mine/leases", "{\"sessionId\":\"loot\"}").json();
    var stolen = lease.get("leaseId").asString();
    var forged = PageCursor.after("lease", "mine", "loot", lease.get("epoch").asString());
    for (var id : List.of(forged, stolen, stolen.substring(0, stolen.length() - 2) + "AA")) {
      var path = "/queues/mine/leases/" + id;
      var settle = "{\"settlements\":[{\"sequence\":1,\"action\":\"complete\"}]}";
      assertLost(call(MALLORY.key(), "GET", path + "/messages", ""));
      assertLost(call(MALLORY.key(), "POST", path + "/settlements", settle));
      assertLost(call(MALLORY.key(), "POST", path + "/renew", ""));
      assertLost(call(MALLORY.key(), "GET", path + "/state", ""));
      assertLost(call(MALLORY.key(), "PUT", path + "/state", "evil"));
      assertLost(call(MALLORY.key(), "DELETE", path, ""));
    }
    assertLost(call(ALICE.key(), "GET", "/queues/mine/leases/" + forged + "/messages", ""));
    assertLost(call(ALICE.key(), "GET", "/queues/mine-loose/leases/" + stolen + "/messages", ""));

    var mine = call(ALICE.key(), "GET", "/queues/mine/leases/" + stolen + "/messages", "");
    assertThat(mine.json().get("messages").get(0).get("body").asString()).isEqualTo("gold");
    assertThat(call(ALICE.key(), "DELETE", "/queues/mine/leases/" + stolen, "").status())
        .isEqualTo(204);
  }

  private static void assertLost(TestServer.Reply reply) {
    assertThat(reply.problem()).as("%s", reply).isEqualTo("session-lock-lost");
  }

  @Test
  void aRoundOfAnotherConsumerIsNeitherRepeatedNorContinued() {
    inventory.ask(
        "POST",
        "/queues/mine/messages",
        "{\"messages\":[{\"sessionId\":\"round\",\"body\":\"gold\"}]}");
    var work = "/queues/mine/work";
    var take = "{\"requestId\":\"round\",\"take\":{\"wait\":\"PT5S\"}}";
    var session = call(ALICE.key(), "POST", work, take).json().get("sessions").get(0);
    var stolen = session.get("leaseId").asString();
    var sequence = session.get("messages").get(0).get("sequence").asString();

    var repeated = call(MALLORY.key(), "POST", work, "{\"requestId\":\"round\"}").json();
    assertThat(repeated.get("repeated").asBoolean()).isFalse();
    assertThat(repeated.get("sessions")).isEmpty();
    var round =
        """
        {"requestId":"theft","renew":["%1$s"],
         "settle":[{"leaseId":"%1$s","completed":[%2$s],"then":"release"}]}
        """
            .formatted(stolen, sequence);
    var theft = call(MALLORY.key(), "POST", work, round).json();
    assertThat(theft.get("settled").get(0).get("outcome").asString()).isEqualTo("lost");
    assertThat(theft.get("renewed").get(0).get("held").asBoolean()).isFalse();

    var own = call(ALICE.key(), "POST", work, round).json();
    assertThat(own.get("settled").get(0).get("outcome").asString()).isEqualTo("settled");
  }

  @Test
  void aReceiptOfAnotherConsumerCanNeitherBeSettledNorRenewed() {
    inventory.ask("POST", "/queues/mine-loose/messages", "{\"messages\":[{\"body\":\"gold\"}]}");
    var message =
        call(ALICE.key(), "POST", "/queues/mine-loose/receive", "{\"wait\":\"PT5S\"}")
            .json()
            .get("messages")
            .get(0);
    var receipt = message.get("receipt").asString();
    var forged = message.get("sequence").asString() + ".1";
    for (var shown : List.of(receipt, forged)) {
      assertLost(call(MALLORY.key(), "POST", "/queues/mine-loose/settlements", complete(shown)));
      assertLost(
          call(
              MALLORY.key(),
              "POST",
              "/queues/mine-loose/renewals",
              "{\"receipt\":\"%s\"}".formatted(shown)));
    }
    assertLost(call(ALICE.key(), "POST", "/queues/mine-loose/settlements", complete(forged)));
    assertThat(
            call(ALICE.key(), "POST", "/queues/mine-loose/settlements", complete(receipt)).status())
        .isEqualTo(200);
  }

  private static String complete(String receipt) {
    return "{\"settlements\":[{\"receipt\":\"%s\",\"action\":\"complete\"}]}".formatted(receipt);
  }

  @Test
  void aGetOfAnotherSiteOrOfAReadingKeyMovesNoCursor() {
    inventory.ask("POST", "/streams/loot/events", "{\"data\":1}");
    var path = "/streams/loot/events?subscriber=billing&lastEventId=0";
    for (var site : List.of("cross-site", "same-site", "anything-new")) {
      var reply = call(SUBSCRIBER.key(), "GET", path, "", "Sec-Fetch-Site", site);
      assertThat(reply.status()).as(site).isEqualTo(403);
    }
    assertThat(call(READER.key(), "GET", path, "").status()).isEqualTo(403);
    assertThat(call(READER.key(), "GET", "/streams/loot/events", "").status()).isEqualTo(200);
    assertThat(call(ADMIN.key(), "GET", "/streams/loot/subscribers", "").json().get("subscribers"))
        .isEmpty();
    assertThat(call(SUBSCRIBER.key(), "GET", path, "", "Sec-Fetch-Site", "same-origin").status())
        .isEqualTo(200);
  }

  @Test
  void anOpenServerTakesNoRequestOfAnotherSiteAndNoneThatCameThroughAProxy() {
    try (var open = TestServer.start("")) {
      open.post("/streams/loot/events", "{\"data\":1}");
      for (var site : List.of("cross-site", "same-site")) {
        for (var path : List.of("/queues", "/streams/loot/events?subscriber=billing", "/")) {
          assertThat(open.send("GET", path, Optional.empty(), "Sec-Fetch-Site", site).status())
              .as("%s %s", path, site)
              .isEqualTo(403);
        }
        assertThat(
                open.send("GET", "/health/live", Optional.empty(), "Sec-Fetch-Site", site).status())
            .isEqualTo(200);
      }
      assertThat(open.get("/streams/loot/subscribers").json().get("subscribers")).isEmpty();
      for (var header :
          List.of("X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via", "Forwarded")) {
        for (var path : List.of("/queues", "/health/live", "/openapi.json", "/")) {
          var reply = open.send("GET", path, Optional.empty(), header, "for=203.0.113.7");
          assertThat(reply.status()).as("%s with %s", path, header).isEqualTo(403);
          assertThat(reply.body()).contains("configure security before you publish it");
        }
      }
    }
  }

  @Test
  void anEventShowsOnlyTheBotsAndQueuesOfItsReader() {
    var event =
        inventory.ask("GET", "/events", "").json().get("events").get(0).get("eventId").asString();
    for (var path : List.of("/events", "/events/" + event)) {
      var reply = call(QUEUE.key(), "GET", path, "");
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.body()).contains("\"other\"").doesNotContain("\"mine\"");
    }
  }

  @Test
  void aForgedCursorIsRefusedByEveryList() {
    for (var list :
        List.of(
            List.of("/events", "events"),
            List.of("/queues/mine/dead-letters", "dead-letters/mine"),
            List.of("/sessions", "sessions"),
            List.of("/usages", "usages"))) {
      var path = list.get(0) + "?cursor=" + PageCursor.after(list.get(1), "x");
      assertThat(call(ADMIN.key(), "GET", path, "").problem()).as(path).isEqualTo("invalid-cursor");
    }
  }

  @Test
  void thePagesTellOnlyCredentialsOfTheWholeServerWhereTheDataIs() {
    assertThat(call(ADMIN.key(), "GET", "/ui/system", "").body()).contains("PostgreSQL");
    for (var bound : List.of(QUEUE, TENANT)) {
      for (var path : List.of("/", "/ui/queues", "/ui/system")) {
        assertThat(call(bound.key(), "GET", path, "").body()).doesNotContain("PostgreSQL");
      }
    }
  }
}
