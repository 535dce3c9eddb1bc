package dev.sessionkeeper.dashboard;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server of a small shop, as its operators see it: with traffic and a few failures. */
final class Shop implements AutoCloseable {
  /** The configuration of the shop's server; the placeholder is the digest of the reader's key. */
  static final String CONFIGURATION =
      """
      github: {secrets: ["webhook secret"]}
      bots:
        - {name: reviewer, events: ["pull_request.*", "pull_request_review.submitted"], ordering_scope: entity, max_concurrent_sessions: 10}
        - {name: labeler, events: ["issues.opened"], ordering_scope: repository, max_concurrent_sessions: 4}
        - {name: announcer, events: ["release.published"], repositories: ["acme/app"], ordering_scope: repository, max_concurrent_sessions: 2}
      usage: {interval: 5s}
      security:
        keys:
          - {name: anna, sha256: %s, roles: [admin]}
          - {name: checkout, sha256: "1111111111111111111111111111111111111111111111111111111111111111", roles: [send], queues: [orders, emails]}
          - {name: grafana, sha256: "2222222222222222222222222222222222222222222222222222222222222222", roles: [read]}
          - {name: warehouse, sha256: "3333333333333333333333333333333333333333333333333333333333333333", roles: [consume], queues: [orders]}
      """;

  private static final String COMMA =
      "java.lang.NumberFormatException: Character , is neither a decimal digit number\\n\\tat"
          + " java.base/java.math.BigDecimal.<init>(BigDecimal.java:611)\\n\\tat"
          + " com.acme.orders.Amount.parse(Amount.java:17)\\n\\tat"
          + " com.acme.orders.BookOrder.handle(BookOrder.java:42)";
  private static final int CUSTOMERS = 60;

  private final JsonMapper json = new JsonMapper();
  private final Random random = new Random(7);
  private final Keeper keeper;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final AtomicInteger orders = new AtomicInteger(48_200);
  private final List<Thread> threads = new ArrayList<>();

  Shop(Keeper keeper) {
    this.keeper = keeper;
  }

  void fill() {
    keeper.queue("orders", "ORDERED", 5, "PARK_SESSION");
    keeper.queue("emails", "ORDERED", 3, "DEAD_LETTER");
    keeper.queue("invoices", "ORDERED", 8, "BLOCK");
    keeper.queue("thumbnails", "UNORDERED", 3, "DEAD_LETTER");
    order("customer-1842", "\"12,50\"");
    for (int i = 0; i < 13; i++) {
      order("customer-1842", "%d.90".formatted(9 + i));
    }
    for (int attempt = 0; attempt < 5; attempt++) {
      fail("orders", "customer-1842", "warehouse-7", COMMA, "PT0S");
      if (attempt == 1) {
        act("orders", "customer-1842", "pause", "I look at it; Jo");
        act("orders", "customer-1842", "resume", "nothing found in the log of the warehouse");
      }
    }
    order("customer-0077", "19.90");
    act("orders", "customer-0077", "pause", "the customer asked us to wait until Monday");
    order("customer-2301", "88.00");
    fail(
        "orders",
        "customer-2301",
        "warehouse-3",
        "java.net.http.HttpTimeoutException: request timed out after PT5S",
        "PT12M");
    send("invoices", "2026-10/acme", "{\"invoice\":7001,\"total\":1249.00}");
    for (int i = 0; i < 3; i++) {
      fail(
          "invoices",
          "2026-10/acme",
          "billing-1",
          "com.acme.billing.LedgerClosed: the ledger of 2026-10 is closed",
          i < 2 ? "PT0S" : "PT9M");
    }
    var causes =
        List.of(
            "com.acme.mail.MailboxFull: 552 mailbox of user %d is full",
            "com.acme.mail.MailboxFull: 552 mailbox of user %d is full",
            "com.acme.mail.UnknownUser: 550 no such user %d",
            "java.net.ConnectException: Connection refused: smtp.example/10.0.3.%d:25");
    for (int i = 0; i < 11; i++) {
      var user = "user-%03d".formatted(310 + i * 7);
      send("emails", user, "{\"template\":\"shipped\",\"order\":%d}".formatted(47_000 + i));
      for (int attempt = 0; attempt < 3; attempt++) {
        fail("emails", user, "mailer-2", causes.get(i % causes.size()).formatted(i + 11), "PT0S");
      }
    }
    state("orders", "customer-0912");
    bulk("emails", "replay", "\"sessionId\":\"user-310\"", "the mailbox has room again");
    bulk("emails", "discard", "\"sessionId\":\"user-317\"", "the order was cancelled");
    github();
    for (int i = 1; i <= 24; i++) {
      keeper.ok(
          "PUT",
          "/sessions",
          "{\"userObjectId\":\"%08x-41aa-4d10-9c51-0f6a3c8e21b7\",\"tenantObjectId\":\"%s\",\"capacityId\":\"c0ffee00-7d1e-4b60-8a55-%012x\",\"sessionKind\":%d}"
              .formatted(0x51f3a27 * i, tenant(i % 3), i % 4 + 1, i % 3 + 1));
    }
    for (int i = 1; i <= 30; i++) {
      keeper.ok(
          "POST",
          "/streams/shipments/events",
          "{\"event\":\"%s\",\"data\":{\"order\":%d,\"carrier\":\"%s\",\"weightKg\":%d.%d}}"
              .formatted(
                  i % 3 == 0 ? "shipment.delivered" : "shipment.sent",
                  48_000 + i,
                  i % 2 == 0 ? "dhl" : "ups",
                  i % 9,
                  i % 10));
    }
    keeper.ok(
        "POST",
        "/streams/prices/events",
        "{\"event\":\"price.changed\",\"data\":{\"sku\":\"A-17\"}}");
    subscribe("tracking-page", 12);
    subscribe("warehouse-board", 30);
  }

  private void subscribe(String name, int position) {
    var path = "/streams/shipments/subscribers/" + name;
    keeper.ok("PUT", path, "{\"from\":\"0\"}");
    keeper.ok("POST", path + "/ack", "{\"lastEventId\":\"%d\"}".formatted(position));
  }

  private static String tenant(int number) {
    return "8d2a4c1e-1111-4222-8333-44445555666" + number;
  }

  private void state(String queue, String session) {
    order(session, "42.00");
    var lease = keeper.lease(queue, session);
    var memory =
        Base64.getEncoder()
            .encodeToString("{\"orders\":17,\"lastPaid\":48112,\"credit\":120.50}".getBytes());
    keeper.ok(
        "POST",
        "/queues/" + queue + "/leases/" + lease + "/settlements",
        "{\"settlements\":[],\"state\":\"%s\"}".formatted(memory));
  }

  private void github() {
    for (int i = 1; i <= 9; i++) {
      keeper.webhook(
          i % 4 == 0 ? "issues" : "pull_request",
          "{\"action\":\"%s\",\"number\":%d,\"%s\":{\"number\":%d,\"title\":\"Round amounts half up\",\"state\":\"open\",\"head\":{\"sha\":\"%040x\"}},\"repository\":{\"full_name\":\"acme/%s\",\"name\":\"%s\",\"owner\":{\"login\":\"acme\"}}}"
              .formatted(
                  i % 3 == 0 || i % 4 == 0 ? "opened" : "synchronize",
                  118 + i % 3,
                  i % 4 == 0 ? "issue" : "pull_request",
                  118 + i % 3,
                  i * 7919,
                  i % 2 == 0 ? "app" : "site",
                  i % 2 == 0 ? "app" : "site"));
    }
    fail(
        "reviewer",
        "acme/site/pull_request/119",
        "reviewer-1",
        "java.io.IOException: the model answered 529",
        "PT3M");
  }

  private void order(String customer, String amount) {
    send(
        "orders",
        customer,
        "{\"order\":%d,\"customer\":\"%s\",\"amount\":%s,\"currency\":\"EUR\"}"
            .formatted(orders.incrementAndGet(), customer, amount));
  }

  private void send(String queue, String session, String body) {
    keeper.send(queue, session, body);
  }

  private void act(String queue, String session, String act, String reason) {
    keeper.ok(
        "POST",
        "/queues/" + queue + "/sessions/actions",
        "{\"sessionId\":\"%s\",\"action\":\"%s\",\"reason\":\"%s\"}"
            .formatted(session, act, reason));
  }

  private void fail(String queue, String session, String owner, String error, String delay) {
    var lease =
        Keeper.field(
            keeper.ok(
                "POST",
                "/queues/" + queue + "/leases",
                "{\"sessionId\":\"%s\",\"owner\":\"%s\",\"wait\":\"PT5S\"}"
                    .formatted(session, owner)),
            "\"leaseId\":\"([^\"]+)\"");
    var path = "/queues/" + queue + "/leases/" + lease;
    var sequence =
        Keeper.field(keeper.ok("GET", path + "/messages?max=1", ""), "\"sequence\":([0-9]+)");
    keeper.ok(
        "POST",
        path + "/settlements",
        "{\"settlements\":[{\"sequence\":%s,\"action\":\"retry\",\"delay\":\"%s\",\"reason\":\"%s\"}]}"
            .formatted(sequence, delay, error));
    keeper.ok("DELETE", path, "");
  }

  private void bulk(String queue, String act, String filter, String reason) {
    var path = "/queues/" + queue + "/bulk";
    var counted =
        keeper.ok(
            "POST",
            path,
            "{\"act\":\"%s\",\"filter\":{%s},\"dryRun\":true}".formatted(act, filter));
    keeper.ok(
        "POST",
        path,
        "{\"act\":\"%s\",\"filter\":{%s},\"token\":\"%s\",\"reason\":\"%s\"}"
            .formatted(act, filter, Keeper.field(counted, "\"token\":\"([^\"]+)\""), reason));
  }

  /** Sends and handles messages until the shop is closed. */
  void open() {
    threads.add(Thread.ofVirtual().name("customers").start(() -> repeat(this::sendSome)));
    threads.add(
        Thread.ofVirtual()
            .name("warehouse")
            .start(() -> repeat(() -> work("orders", "warehouse-7"))));
    threads.add(
        Thread.ofVirtual().name("mailer").start(() -> repeat(() -> work("emails", "mailer-2"))));
  }

  private void repeat(Runnable round) {
    while (!isOver.get()) {
      round.run();
    }
  }

  private void sendSome() {
    int many = 1 + random.nextInt(12);
    var all = new ArrayList<String>();
    for (int i = 0; i < many; i++) {
      all.add(
          "{\"sessionId\":\"customer-%04d\",\"body\":{\"order\":%d,\"amount\":%d.%02d}}"
              .formatted(
                  1_900 + random.nextInt(CUSTOMERS),
                  orders.incrementAndGet(),
                  random.nextInt(200),
                  random.nextInt(100)));
    }
    var queue = random.nextInt(4) == 0 ? "emails" : "orders";
    keeper.ok(
        "POST",
        "/queues/" + queue + "/messages",
        "{\"messages\":[%s]}".formatted(String.join(",", all)));
    if (random.nextInt(3) == 0) {
      keeper.ok(
          "POST", "/queues/thumbnails/messages", "{\"messages\":[{\"body\":{\"picture\":1}}]}");
    }
  }

  private void work(String queue, String owner) {
    var taken = round(queue, owner, "\"take\":{\"sessions\":8,\"messages\":10,\"wait\":\"PT1S\"}");
    var settled = new ArrayList<String>();
    for (var session : taken.path("sessions")) {
      var done = new ArrayList<String>();
      session.path("messages").forEach(message -> done.add(message.path("sequence").toString()));
      settled.add(
          "{\"leaseId\":%s,\"completed\":[%s],\"then\":\"release\"}"
              .formatted(session.path("leaseId"), String.join(",", done)));
    }
    if (!settled.isEmpty()) {
      var unused = round(queue, owner, "\"settle\":[%s]".formatted(String.join(",", settled)));
    }
  }

  private JsonNode round(String queue, String owner, String what) {
    return json.readTree(
        keeper.ok(
            "POST",
            "/queues/" + queue + "/work",
            "{\"requestId\":\"%s\",\"owner\":\"%s\",%s}"
                .formatted(UUID.randomUUID().toString().toLowerCase(Locale.ROOT), owner, what)));
  }

  @Override
  public void close() {
    isOver.set(true);
    for (var thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
