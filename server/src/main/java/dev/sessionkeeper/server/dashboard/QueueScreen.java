package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shows all queues, and one queue with its sessions. */
final class QueueScreen {
  static final List<String> TABS = List.of("attention", "held", "ready");
  private static final String LIMIT = "50";

  /** The columns with numbers, by their field. */
  static final Map<String, String> COLUMNS = columns();

  private static Map<String, String> columns() {
    var columns = new LinkedHashMap<String, String>();
    columns.put("depth", "Waiting");
    columns.put("in", "In /s");
    columns.put("out", "Out /s");
    columns.put("oldestAge", "Oldest");
    columns.put("held", "Held");
    columns.put("parked", "Parked");
    columns.put("paused", "Paused");
    columns.put("dead", "Dead");
    return Collections.unmodifiableMap(columns);
  }

  private final Pages pages;
  private final Api api;

  QueueScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
  }

  List<Route> routes() {
    return List.of(
        pages
            .get(Links.QUEUES, Role.READ, Scope.queues(), this::list)
            .query("filter", "A part of the name")
            .query("sort", "The column whose largest value comes first; by name without it"),
        pages.form(Links.QUEUES, Role.ADMIN, Scope.queues(), this::create),
        pages
            .get("/ui/queues/{queue}", Role.READ, Scope.queue(), this::show)
            .query("tab", "attention, held or ready")
            .query("prefix", "The beginning of the session")
            .query("cursor", "The next page"),
        pages.form("/ui/queues/{queue}", Role.ADMIN, Scope.queue(), this::change));
  }

  private Response list(Request request) throws Exception {
    var filter = request.query().getOrDefault("filter", "");
    var sort = request.query().getOrDefault("sort", "");
    var data = api.get(request, Map.of(), "samples", "queues");
    return pages.show(
        request,
        "queues.jte",
        new Pages.Head("Queues", "queues", "all"),
        Map.of("queues", sorted(filtered(data, filter), sort), "filter", filter, "sort", sort));
  }

  private static List<Data> sorted(Data data, String column) {
    var queues = data.list("queues");
    if (!COLUMNS.containsKey(column)) {
      return queues;
    }
    return queues.stream()
        .sorted(Comparator.comparingDouble((Data queue) -> value(queue, column)).reversed())
        .toList();
  }

  private static double value(Data queue, String column) {
    return column.equals("oldestAge")
        ? queue.number("depth") == 0 ? -1 : queue.duration(column).toMillis()
        : Double.parseDouble(queue.text(column, "0"));
  }

  private static Data filtered(Data data, String filter) {
    return filter.isBlank()
        ? data
        : data.only("queues", queue -> queue.text("queue").contains(filter.strip()));
  }

  private Response create(Request request, Map<String, String> fields) throws Exception {
    var name = fields.getOrDefault("name", "").strip();
    var body = settings(fields);
    body.put("mode", fields.getOrDefault("mode", "ORDERED"));
    api.send(because(request, fields), "PUT", body, "queues", name);
    return pages.tell(Links.queue(name), "Created the queue " + name + ".", Links.audit(name));
  }

  private Response change(Request request, Map<String, String> fields) throws Exception {
    var name = request.parameter("queue");
    api.send(because(request, fields), "PUT", settings(fields), "queues", name);
    return pages.tell(
        Links.queue(name), "The settings of " + name + " have changed.", Links.audit(name));
  }

  private static Request because(Request request, Map<String, String> fields) {
    return request.because(SessionScreen.reason(fields));
  }

  private static Map<String, Object> settings(Map<String, String> fields) {
    var body = new LinkedHashMap<String, Object>();
    body.put("poisonPolicy", fields.getOrDefault("poisonPolicy", ""));
    var most = fields.getOrDefault("maxDeliveryCount", "");
    body.put("maxDeliveryCount", most.matches("[0-9]{1,9}") ? Integer.valueOf(most) : most);
    return body;
  }

  private Response show(Request request) throws Exception {
    var queue = request.parameter("queue");
    var query = request.query();
    var asked = query.getOrDefault("tab", "");
    var tab = TABS.contains(asked) ? asked : TABS.getFirst();
    var prefix = query.getOrDefault("prefix", "");
    var cursor = query.getOrDefault("cursor", "");
    var settings = api.get(request, Map.of("numbers", "false"), "queues", queue);
    var sessions =
        settings.text("mode").equals("ORDERED")
            ? api.get(
                request,
                Api.query(
                    "status", tab, "prefix", prefix, "counts", "true", "limit", LIMIT, "cursor",
                    cursor),
                "queues",
                queue,
                "sessions",
                "search")
            : Data.NOTHING;
    var model = new LinkedHashMap<String, Object>();
    model.put("queue", queue);
    model.put("settings", settings);
    model.put(
        "numbers",
        api.get(request, Map.of("queue", queue), "samples", "queues").list("queues").stream()
            .findFirst()
            .orElse(Data.NOTHING));
    model.put("samples", api.get(request, Api.query("queue", queue), "samples"));
    model.put("sessions", sessions);
    model.put("tab", tab);
    model.put("prefix", prefix);
    model.put("isFirst", cursor.isEmpty());
    model.put("canBulk", api.has("POST", "/queues/{queue}/bulk"));
    return pages.show(request, "queue.jte", new Pages.Head(queue, "queues", queue), model);
  }

  static String title(String tab) {
    return switch (tab) {
      case "held" -> "Held";
      case "ready" -> "Ready";
      default -> "Attention";
    };
  }

  /** Returns the count beside the name of a tab; blank if unknown. */
  static String count(String tab, Data found) {
    if (!found.has("counts")) {
      return "";
    }
    long number = found.at("counts").number(tab);
    // Sessions whose messages are in message batches have no row: they are ready, but not counted.
    boolean isMore = tab.equals("ready") && !found.isTrue("backlogIsExact");
    if (isMore && number == 0) {
      return "";
    }
    return isMore && number <= 10_000 ? Show.count(number) + "+" : Show.bounded(number);
  }

  /** Returns for how long a session has been blocked or held; blank if unknown. */
  static String since(Shell shell, Data session) {
    var since = session.time("blockedSince").or(() -> session.time("heldSince"));
    return since.isPresent() ? shell.since(since) : "";
  }

  static String empty(String tab, String prefix, boolean isMore) {
    if (isMore) {
      return "None among the sessions looked through so far. The next page looks further.";
    }
    var those = prefix.isEmpty() ? "" : " among those that begin with “" + prefix + "”";
    return switch (tab) {
      case "held" -> "No session is held" + those + ".";
      case "ready" -> "No session waits for a consumer" + those + ".";
      default ->
          "Nothing is blocked" + those + ": no session is parked, paused or waits for a retry.";
    };
  }

  static List<String> bulkActs(String tab) {
    return switch (tab) {
      case "held" -> List.of("release", "pause", "park");
      case "ready" -> List.of("pause", "park", "deadLetterAll");
      default -> List.of("resume", "pause", "park", "deadLetterAll");
    };
  }

  static String actName(String act) {
    return switch (act) {
      case "pause" -> "Pause";
      case "resume" -> "Resume";
      case "park" -> "Park";
      case "release" -> "Release";
      case "deadLetterAll" -> "Dead-letter all messages";
      case "deadLetterHead" -> "Dead-letter the first message";
      case "replay" -> "Replay";
      case "discard" -> "Discard";
      case BulkScreen.EVENTS -> "Replay events";
      default -> act;
    };
  }
}
