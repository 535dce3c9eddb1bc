package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.http.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** Finds problems that need an operator. Leaves out what the reader may not see. */
final class FindTrouble {
  private static final int MOST_ITEMS = 5;
  private static final String LOOKED_AT = "50";
  private static final Duration BLOCKED = Duration.ofMinutes(5);

  private final Api api;

  FindTrouble(Api api) {
    this.api = api;
  }

  List<Trouble> find(Request request, List<Data> queues) throws Exception {
    var troubles = new ArrayList<Trouble>();
    look("Sessions", "/ui/queues", troubles, () -> parked(request, queues, troubles));
    look("Sessions", "/ui/queues", troubles, () -> blocked(request, queues, troubles));
    dead(queues, troubles);
    look("Jobs", "/ui/jobs", troubles, () -> jobs(request, troubles));
    look("Usage", "/ui/usage", troubles, () -> usage(request, troubles));
    look("Metering", "/ui/usage", troubles, () -> hold(request, troubles));
    look("Bots", "/ui/bots", troubles, () -> bots(request, troubles));
    look("Nodes", "/ui/system", troubles, () -> nodes(request, troubles));
    return troubles;
  }

  /** A part of the search. */
  private interface Look {
    void run() throws Exception;
  }

  /**
   * Looks at one part. A part that fails is a trouble by itself and hides no other; without the
   * store no part can be looked at.
   */
  private static void look(String what, String link, List<Trouble> troubles, Look look)
      throws Exception {
    try {
      look.run();
    } catch (KeeperException.Rejected e) {
      troubles.add(
          new Trouble(
              "bad",
              what + " cannot be looked at",
              Show.line(String.valueOf(e.getMessage()).replaceFirst("^\\[SK-\\d+] ", ""), 160),
              link,
              List.of()));
    }
  }

  private void parked(Request request, List<Data> queues, List<Trouble> troubles) throws Exception {
    long parked = sum(queues, queue -> queue.number("parked"));
    if (parked == 0) {
      return;
    }
    var items = new ArrayList<Trouble.Item>();
    for (var queue : queues) {
      if (queue.number("parked") > 0 && items.size() < MOST_ITEMS) {
        sessions(request, queue.text("queue"), "parked", items, Duration.ZERO);
      }
    }
    troubles.add(
        new Trouble(
            "bad",
            Show.plural(parked, "parked session", "parked sessions"),
            parked == 1
                ? "It stands still until a person resumes it."
                : "They stand still until a person resumes them.",
            first(queues, queue -> queue.number("parked")),
            items));
  }

  /** Finds sessions whose first message has been retried for minutes. */
  private void blocked(Request request, List<Data> queues, List<Trouble> troubles)
      throws Exception {
    for (var queue : queues) {
      boolean isOld =
          queue.duration("oldestAge").compareTo(BLOCKED) >= 0 && queue.number("depth") > 0;
      if (isOld && queue.text("mode").equals("ORDERED")) {
        var items = new ArrayList<Trouble.Item>();
        sessions(request, queue.text("queue"), "waiting", items, BLOCKED);
        if (!items.isEmpty()) {
          troubles.add(
              new Trouble(
                  "warn",
                  "Sessions of " + queue.text("queue") + " wait for retries",
                  "The oldest message has waited for "
                      + Show.duration(queue.duration("oldestAge"))
                      + ".",
                  Links.queue(queue.text("queue")),
                  items));
        }
      }
    }
  }

  private void sessions(
      Request request, String queue, String status, List<Trouble.Item> items, Duration least)
      throws Exception {
    api.find(
            request,
            Api.query("status", status, "limit", LOOKED_AT),
            "queues",
            queue,
            "sessions",
            "search")
        .ifPresent(
            found ->
                found.list("sessions").stream()
                    .filter(session -> session.duration("headAge").compareTo(least) >= 0)
                    .limit(MOST_ITEMS - items.size())
                    .forEach(
                        session ->
                            items.add(
                                new Trouble.Item(
                                    session.text("sessionId"),
                                    "in "
                                        + queue
                                        + " · "
                                        + Show.line(session.text("blockedReason"), 120),
                                    Links.session(queue, session.text("sessionId"))))));
  }

  private static void dead(List<Data> queues, List<Trouble> troubles) {
    long dead = sum(queues, queue -> queue.number("dead"));
    if (dead > 0) {
      var items =
          queues.stream()
              .filter(queue -> queue.number("dead") > 0)
              .limit(MOST_ITEMS)
              .map(
                  queue ->
                      new Trouble.Item(
                          queue.text("queue"),
                          Show.plural(queue.number("dead"), "message was", "messages were")
                              + " set aside",
                          Links.deadLetters(queue.text("queue"))))
              .toList();
      troubles.add(
          new Trouble(
              "warn",
              Show.plural(dead, "dead letter", "dead letters"),
              dead == 1
                  ? "It failed too often, or a person set it aside. Repair and replay it."
                  : "They failed too often, or a person set them aside. Repair and replay them.",
              items.getFirst().link(),
              items));
    }
  }

  private void jobs(Request request, List<Trouble> troubles) throws Exception {
    var failing =
        api
            .find(request, Map.of(), "jobs")
            .map(answer -> answer.list("jobs"))
            .orElse(List.of())
            .stream()
            .filter(job -> job.has("lastError"))
            .map(
                job ->
                    new Trouble.Item(
                        job.text("name"),
                        Show.line(job.text("lastError"), 120),
                        Links.job(job.text("name"))))
            .toList();
    if (!failing.isEmpty()) {
      troubles.add(
          new Trouble(
              "warn",
              Show.plural(failing.size(), "failing job", "failing jobs"),
              failing.size() == 1 ? "Its last run failed." : "Their last runs failed.",
              "/ui/jobs",
              failing));
    }
  }

  private void usage(Request request, List<Trouble> troubles) throws Exception {
    var dead =
        api.find(request, Api.query("state", "dead", "limit", "1"), "usages", "batches")
            .map(answer -> answer.list("batches"))
            .orElse(List.of());
    if (!dead.isEmpty()) {
      troubles.add(
          new Trouble(
              "bad",
              "Usage was refused",
              Show.line(dead.getFirst().text("lastError"), 120),
              "/ui/usage?state=dead",
              List.of()));
    }
  }

  private void hold(Request request, List<Trouble> troubles) throws Exception {
    api.find(request, Map.of("sums", "false"), "usages", "proof")
        .filter(proof -> proof.has("hold"))
        .ifPresent(
            proof ->
                troubles.add(
                    new Trouble(
                        "bad",
                        "Metering stands still",
                        Show.line(proof.at("hold").text("reason"), 160),
                        "/ui/usage?proof=1",
                        List.of())));
  }

  private void bots(Request request, List<Trouble> troubles) throws Exception {
    var dead =
        api
            .find(request, Map.of(), "bots")
            .map(answer -> answer.list("bots"))
            .orElse(List.of())
            .stream()
            .filter(bot -> bot.isTrue("circuitOpen"))
            .map(
                bot ->
                    new Trouble.Item(
                        bot.text("name"), Show.line(bot.text("target"), 80), "/ui/bots"))
            .toList();
    if (!dead.isEmpty()) {
      troubles.add(
          new Trouble(
              "bad",
              Show.plural(dead.size(), "dead endpoint", "dead endpoints"),
              dead.size() == 1
                  ? "Its bot gets nothing until it answers again."
                  : "Their bots get nothing until they answer again.",
              "/ui/bots",
              dead));
    }
  }

  private void nodes(Request request, List<Trouble> troubles) throws Exception {
    var silent =
        api
            .find(request, Map.of(), "nodes")
            .map(answer -> answer.list("nodes"))
            .orElse(List.of())
            .stream()
            .filter(node -> node.isTrue("silent"))
            .map(node -> new Trouble.Item(node.text("name"), "", "/ui/system"))
            .toList();
    if (!silent.isEmpty()) {
      troubles.add(
          new Trouble(
              "warn",
              Show.plural(silent.size(), "silent node", "silent nodes"),
              "No word for a while, and no sign of a planned end.",
              "/ui/system",
              silent));
    }
  }

  private static long sum(List<Data> queues, ToLongFunction<Data> number) {
    return queues.stream().mapToLong(number).sum();
  }

  private static String first(List<Data> queues, ToLongFunction<Data> number) {
    return queues.stream()
        .filter(queue -> number.applyAsLong(queue) > 0)
        .findFirst()
        .map(queue -> Links.queue(queue.text("queue")))
        .orElse(Links.QUEUES);
  }
}
