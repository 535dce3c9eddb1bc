package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Shows GitHub events, and the bots that received them. */
final class EventsScreen {
  private static final List<String> FILTERS =
      List.of("repository", "type", "bot", "sessionId", "from", "to");

  private final Pages pages;
  private final Api api;

  EventsScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
  }

  List<Route> routes() {
    var list = pages.get("/ui/events", Role.READ, Scope.queues(), this::list);
    for (var filter : FILTERS) {
      list = list.query(filter, "Only with this");
    }
    return List.of(
        list.query("cursor", "The next page"),
        pages.get("/ui/events/{id}", Role.READ, Scope.queues(), this::show),
        pages.form("/ui/events/{id}/replay", Role.OPERATE, Scope.queues(), this::replay),
        pages.get(
            "/ui/bots", Role.READ, Scope.queues(), request -> bots(request, Data.NOTHING, "", "")),
        pages.form("/ui/bots", Role.READ, Scope.queues(), this::explain));
  }

  private Response list(Request request) throws Exception {
    var filter = new LinkedHashMap<String, String>();
    FILTERS.forEach(name -> filter.put(name, request.query().getOrDefault(name, "").strip()));
    var cursor = request.query().getOrDefault("cursor", "");
    var query = new LinkedHashMap<>(Api.query("limit", "50", "cursor", cursor));
    filter.forEach(
        (name, value) -> query.putAll(Api.query(name, DeadLettersScreen.instant(value))));
    return pages.show(
        request,
        "events.jte",
        new Pages.Head("GitHub events", "events", "all"),
        Map.of(
            "data", api.get(request, query, "events"),
            "filter", filter,
            "canBulk", api.has("POST", "/bulk"),
            "isFirst", cursor.isEmpty()));
  }

  private Response show(Request request) throws Exception {
    var id = request.parameter("id");
    var data = api.get(request, Map.of(), "events", id);
    var bytes = api.bytes(request, "events", id, "payload");
    var payload = Data.document(bytes);
    var text = payload.isPresent() ? "" : Show.cut(new String(bytes, StandardCharsets.UTF_8)) + " ";
    return pages.show(
        request,
        "event.jte",
        new Pages.Head(data.at("event").text("type"), "events", ""),
        Map.of(
            "data",
            data,
            "payload",
            payload.orElse(Data.NOTHING),
            "payloadText",
            text,
            "now",
            payload.isPresent() ? now(request, data, bytes) : Data.NOTHING,
            "before",
            before(request, data, payload)));
  }

  /**
   * The previous event of the same session, and how this event's payload differs.
   *
   * @param id blank if there is no previous event
   */
  record Before(String id, String name, List<JsonDiff.Change> changes) {}

  private Before before(Request request, Data data, Optional<Data> payload) throws Exception {
    var event = data.at("event");
    var older =
        api
            .get(request, Api.query("sessionId", event.text("sessionId"), "limit", "50"), "events")
            .list("events")
            .stream()
            .dropWhile(one -> !one.text("eventId").equals(event.text("eventId")))
            .skip(1)
            .findFirst();
    if (older.isEmpty() || payload.isEmpty()) {
      return new Before("", "", List.of());
    }
    var id = older.get().text("eventId");
    var bytes = Data.document(api.bytes(request, "events", id, "payload"));
    var name =
        older.get().text("type")
            + (older.get().has("action") ? "." + older.get().text("action") : "");
    return new Before(
        id,
        name,
        bytes
            .map(document -> JsonDiff.between(document.json(), payload.get().json()))
            .orElse(List.of()));
  }

  /** Returns which of today's bots the event would be routed to. */
  private Data now(Request request, Data data, byte[] payload) {
    try {
      return api.post(
          request,
          Map.of(
              "type",
              data.at("event").text("type"),
              "payload",
              new String(payload, StandardCharsets.UTF_8)),
          "bots",
          "explain");
    } catch (Exception e) {
      return Data.NOTHING; // An older version stored an event that this version refuses.
    }
  }

  static String now(Data now, String bot) {
    return now.list("bots").stream()
        .filter(verdict -> verdict.text("bot").equals(bot))
        .findFirst()
        .map(verdict -> verdict.isTrue("matched") ? "would get it" : "would not")
        .orElse("is not configured");
  }

  private Response replay(Request request, Map<String, String> fields) throws Exception {
    SessionScreen.requireReason(fields);
    var id = request.parameter("id");
    var done =
        api.post(
            request, Map.of("eventId", id, "reason", fields.get("reason")), "events", "replay");
    return pages.tell(
        Links.event(id),
        Show.plural(done.number("replayed"), "message was", "messages were") + " sent again.",
        Links.with("/ui/access", Map.of("action", "events.replay")));
  }

  /** Returns the filters among these fields, without the blank ones. */
  static Map<String, String> filterOf(Map<String, String> fields) {
    var filter = new LinkedHashMap<String, String>();
    FILTERS.forEach(name -> filter.putAll(Api.query(name, fields.getOrDefault(name, "").strip())));
    return filter;
  }

  private Response bots(Request request, Data verdicts, String type, String payload)
      throws Exception {
    var model = new HashMap<String, Object>();
    model.put("data", api.get(request, Map.of(), "bots"));
    model.put("verdicts", verdicts);
    model.put("type", type);
    model.put("payload", payload);
    return pages.show(request, "bots.jte", new Pages.Head("Bots", "bots", "all"), model);
  }

  private Response explain(Request request, Map<String, String> fields) throws Exception {
    var type = fields.getOrDefault("type", "");
    var payload = fields.getOrDefault("payload", "");
    var verdicts = api.post(request, Map.of("type", type, "payload", payload), "bots", "explain");
    return bots(request, verdicts, type, payload);
  }
}
