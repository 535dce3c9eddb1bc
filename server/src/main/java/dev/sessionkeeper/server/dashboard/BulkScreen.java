package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shows bulk acts: count, confirm, watch, stop. */
final class BulkScreen {
  private final Pages pages;
  private final Api api;

  BulkScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
  }

  List<Route> routes() {
    return List.of(
        pages.get("/ui/bulk", Role.READ, Scope.queues(), this::list),
        pages.get("/ui/bulk/{id}", Role.READ, Scope.queues(), this::show),
        pages.form("/ui/bulk/count", Role.OPERATE, Scope.queues(), this::count),
        pages.form("/ui/bulk/start", Role.OPERATE, Scope.queues(), this::start),
        pages.form("/ui/bulk/{id}/stop", Role.OPERATE, Scope.queues(), this::stop));
  }

  private Response list(Request request) throws Exception {
    var runs = api.get(request, Map.of(), "bulk").list("runs");
    return pages.show(
        request, "bulkruns.jte", new Pages.Head("Bulk runs", "bulk", "all"), Map.of("runs", runs));
  }

  private Response show(Request request) throws Exception {
    var run = api.get(request, Map.of(), "bulk", request.parameter("id"));
    return pages.show(
        request,
        "bulkrun.jte",
        new Pages.Head(QueueScreen.actName(run.text("act")), "bulk", run.text("queue")),
        Map.of("run", run));
  }

  private Response count(Request request, Map<String, String> fields) throws Exception {
    var wish = wish(fields);
    wish.put("dryRun", true);
    var queue = fields.getOrDefault("queue", "");
    var counted = api.post(request, wish, "queues", queue, "bulk");
    var kept = new LinkedHashMap<String, String>();
    for (var name :
        List.of(
            "act",
            "queue",
            "status",
            "prefix",
            "sessionId",
            "reasonHas",
            "fingerprint",
            "from",
            "to")) {
      kept.put(name, fields.getOrDefault(name, ""));
    }
    boolean isOfLetters = !fields.containsKey("status");
    return pages.show(
        request,
        "confirm.jte",
        new Pages.Head("Confirm", "queues", ""),
        Map.of(
            "counted",
            counted,
            "act",
            fields.getOrDefault("act", ""),
            "queue",
            queue,
            "fields",
            kept,
            "back",
            isOfLetters
                ? Links.deadLetters(queue)
                : Links.queue(queue, fields.getOrDefault("status", ""))));
  }

  private Response start(Request request, Map<String, String> fields) throws Exception {
    SessionScreen.requireReason(fields);
    SessionScreen.requireTyped(fields);
    var wish = wish(fields);
    wish.put("token", fields.getOrDefault("token", ""));
    wish.put("reason", fields.get("reason"));
    var run = api.post(request, wish, "queues", fields.getOrDefault("queue", ""), "bulk");
    return pages.tell(
        Links.bulk(run.text("id")),
        "It has begun, and goes on when you leave this page.",
        Links.audit(run.text("queue")));
  }

  private Response stop(Request request, Map<String, String> fields) throws Exception {
    var id = request.parameter("id");
    var run = api.post(request.because(SessionScreen.reason(fields)), Map.of(), "bulk", id, "stop");
    return pages.tell(
        Links.bulk(id),
        run.text("state").equals("stopped") ? "It is stopped." : "It had ended before.",
        Links.audit(run.text("queue")));
  }

  private static Map<String, Object> wish(Map<String, String> fields) {
    var filter =
        Api.query(
            "status", fields.getOrDefault("status", ""),
            "prefix", fields.getOrDefault("prefix", ""),
            "sessionId", fields.getOrDefault("sessionId", ""),
            "reason", fields.getOrDefault("reasonHas", ""),
            "fingerprint", fields.getOrDefault("fingerprint", ""),
            "from", fields.getOrDefault("from", ""),
            "to", fields.getOrDefault("to", ""));
    var wish = new LinkedHashMap<String, Object>();
    wish.put("act", fields.getOrDefault("act", ""));
    wish.put("filter", filter);
    return wish;
  }

  static String effect(String act, long count) {
    return switch (act) {
      case "replay" ->
          Show.plural(count, "dead letter goes", "dead letters go")
              + " back to their old places and begin at attempt 1.";
      case "discard" ->
          Show.plural(count, "dead letter is", "dead letters are")
              + " gone afterwards. Nothing brings them back.";
      case "resume" -> Show.plural(count, "session moves", "sessions move") + " again.";
      case "release" ->
          Show.plural(count, "session is", "sessions are")
              + " taken from their owners; the message in hand comes again.";
      case "deadLetterAll" ->
          "All messages of " + Show.plural(count, "session", "sessions") + " are set aside.";
      default ->
          Show.plural(count, "session is", "sessions are")
              + " handed out to nobody until a person resumes them.";
    };
  }
}
