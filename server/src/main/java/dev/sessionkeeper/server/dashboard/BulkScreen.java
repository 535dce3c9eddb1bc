package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Shows bulk acts: count, confirm, watch, stop. */
final class BulkScreen {
  /** The act that sends events to their bots again. */
  static final String EVENTS = "replayEvents";

  /** The fields that the confirmation sends again. */
  private static final List<String> KEPT =
      List.of(
          "act",
          "queue",
          "status",
          "prefix",
          "sessionId",
          "reasonHas",
          "fingerprint",
          "bot",
          "repository",
          "type",
          "from",
          "to");

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
    var counted = api.post(request, wish, path(fields));
    var kept = new LinkedHashMap<String, String>();
    KEPT.forEach(name -> kept.putAll(Api.query(name, fields.getOrDefault(name, ""))));
    var act = fields.getOrDefault("act", "");
    return pages.show(
        request,
        "confirm.jte",
        new Pages.Head("Confirm", act.equals(EVENTS) ? "events" : "queues", ""),
        Map.of(
            "counted", counted,
            "act", act,
            "queue", fields.getOrDefault("queue", ""),
            "fields", kept,
            "back", back(fields)));
  }

  /** Returns the list from which the reader came. */
  private static String back(Map<String, String> fields) {
    var queue = fields.getOrDefault("queue", "");
    if (fields.getOrDefault("act", "").equals(EVENTS)) {
      return Links.with("/ui/events", EventsScreen.filterOf(fields));
    }
    return fields.containsKey("status")
        ? Links.queue(queue, fields.getOrDefault("status", ""))
        : Links.deadLetters(queue);
  }

  private static String[] path(Map<String, String> fields) {
    return fields.getOrDefault("act", "").equals(EVENTS)
        ? new String[] {"bulk"}
        : new String[] {"queues", fields.getOrDefault("queue", ""), "bulk"};
  }

  private Response start(Request request, Map<String, String> fields) throws Exception {
    SessionScreen.requireReason(fields);
    SessionScreen.requireTyped(fields);
    var wish = wish(fields);
    wish.put("token", fields.getOrDefault("token", ""));
    wish.put("reason", fields.get("reason"));
    var run = api.post(request, wish, path(fields));
    return pages.tell(
        Links.bulk(run.text("id")),
        "The run has begun. It continues when you leave this page.",
        audit(run));
  }

  /**
   * Returns the audit entries of a run: they are on its queue, or on the run if it sends events.
   */
  private static String audit(Data run) {
    return Links.audit(
        run.text("act").equals(EVENTS) ? "bulk/" + run.text("id") : run.text("queue"));
  }

  private Response stop(Request request, Map<String, String> fields) throws Exception {
    var id = request.parameter("id");
    var run = api.post(request.because(SessionScreen.reason(fields)), Map.of(), "bulk", id, "stop");
    return pages.tell(
        Links.bulk(id),
        run.text("state").equals("stopped") ? "The run is stopped." : "The run had ended before.",
        audit(run));
  }

  private static Map<String, Object> wish(Map<String, String> fields) {
    var filter =
        Api.query(
            "status", fields.getOrDefault("status", ""),
            "prefix", fields.getOrDefault("prefix", ""),
            "sessionId", fields.getOrDefault("sessionId", ""),
            "reason", fields.getOrDefault("reasonHas", ""),
            "fingerprint", fields.getOrDefault("fingerprint", ""),
            "bot", fields.getOrDefault("bot", ""),
            "repository", fields.getOrDefault("repository", ""),
            "type", fields.getOrDefault("type", ""),
            "from", DeadLettersScreen.instant(fields.getOrDefault("from", "")),
            "to", DeadLettersScreen.instant(fields.getOrDefault("to", "")));
    var wish = new LinkedHashMap<String, Object>();
    wish.put("act", fields.getOrDefault("act", ""));
    wish.put("filter", filter);
    return wish;
  }

  /** Returns the fields of a filter in words. */
  static String filter(Data filter) {
    var fields =
        filter.members().entrySet().stream()
            .map(field -> word(field.getKey()) + " " + filter.text(field.getKey()))
            .collect(Collectors.joining(", "));
    return fields.isEmpty() ? "all" : fields;
  }

  private static String word(String field) {
    return switch (field) {
      case "sessionId" -> "session";
      case "eventId" -> "event";
      case "fingerprint" -> "cause";
      case "reason" -> "error or reason has";
      case "prefix" -> "session begins with";
      default -> field;
    };
  }

  /** Returns the heading of the samples of a dry run. */
  static String samples(String act, long count) {
    var noun = act.equals(EVENTS) ? Show.plural(count, "event", "events") : Show.count(count);
    return act.equals(EVENTS) ? "The oldest " + noun : "The first " + noun + " of them";
  }

  static String effect(String act, long count) {
    return switch (act) {
      case "replay" ->
          Show.plural(count, "dead letter goes", "dead letters go")
              + " back to their old places and begin at attempt 1.";
      case EVENTS ->
          Show.plural(count, "message goes", "messages go")
              + " to their bots once more, each at the end of its session and marked as replayed.";
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
