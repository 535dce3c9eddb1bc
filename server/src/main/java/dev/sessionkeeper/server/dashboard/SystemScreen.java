package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.RawJson;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shows streams, credentials and the server itself. */
final class SystemScreen {
  private static final List<String> FILTERS = List.of("target", "actor", "action");

  private final Pages pages;
  private final Api api;

  SystemScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
  }

  List<Route> routes() {
    var access = pages.get("/ui/access", Role.ADMIN, Scope.server("Audit entries"), this::access);
    for (var filter : FILTERS) {
      access = access.query(filter, "Only with this");
    }
    return List.of(
        access.query("cursor", "The next page"),
        pages.get("/ui/streams", Role.READ, Scope.stream(), this::streams),
        pages
            .get("/ui/streams/{stream}", Role.READ, Scope.stream(), this::stream)
            .query("event", "The name of events")
            .query("before", "Only older events"),
        pages.form("/ui/streams/{stream}", Role.SEND, Scope.stream(), this::publish),
        pages.get("/ui/system", Role.READ, Scope.server("The system"), this::system),
        pages.form("/ui/system/reload", Role.ADMIN, Scope.server("Settings"), this::reload));
  }

  private Response access(Request request) throws Exception {
    var filter = new LinkedHashMap<String, String>();
    FILTERS.forEach(name -> filter.put(name, request.query().getOrDefault(name, "").strip()));
    var cursor = request.query().getOrDefault("cursor", "");
    var query = new LinkedHashMap<>(Api.query("limit", "50", "cursor", cursor));
    filter.forEach((name, value) -> query.putAll(Api.query(name, value)));
    return pages.show(
        request,
        "access.jte",
        new Pages.Head("Access", "access", "all"),
        Map.of(
            "credentials", api.get(request, Map.of(), "credentials"),
            "audit", api.get(request, query, "audit"),
            "filter", filter,
            "isFirst", cursor.isEmpty()));
  }

  /** Describes in words which tenants and queues a credential reaches. */
  static String reaches(Data credential) {
    if (!credential.has("tenant") && !credential.has("queues")) {
      return credential.texts("roles").isEmpty() ? "–" : "everything";
    }
    var parts = new ArrayList<String>();
    if (credential.has("tenant")) {
      parts.add("tenant " + credential.text("tenant"));
    }
    if (credential.has("queues")) {
      parts.add("queues " + String.join(", ", credential.texts("queues")));
    }
    return String.join("; ", parts);
  }

  private Response publish(Request request, Map<String, String> fields) throws Exception {
    var stream = request.parameter("stream");
    var event = new LinkedHashMap<String, Object>();
    event.put("event", fields.getOrDefault("event", ""));
    var text = fields.getOrDefault("data", "").strip();
    var data = Data.document(text.getBytes(StandardCharsets.UTF_8));
    if (data.isEmpty()) {
      throw Problem.invalid("data", "must be JSON, such as {\"n\":1}").toException();
    }
    event.put("data", new RawJson(text));
    var done = api.post(request, event, "streams", stream, "events");
    return pages.tell(Links.stream(stream), "Event " + done.text("id") + " is in the stream.", "");
  }

  private Response streams(Request request) throws Exception {
    return pages.show(
        request,
        "streams.jte",
        new Pages.Head("Streams", "streams", "all"),
        Map.of("data", api.get(request, Map.of(), "streams")));
  }

  private Response stream(Request request) throws Exception {
    var stream = request.parameter("stream");
    var event = request.query().getOrDefault("event", "").strip();
    var before = request.query().getOrDefault("before", "");
    return pages.show(
        request,
        "stream.jte",
        new Pages.Head(stream, "streams", before.isEmpty() ? "all" : ""),
        Map.of(
            "stream",
            stream,
            "events",
            api.get(
                request, Api.query("event", event, "before", before), "streams", stream, "newest"),
            "subscribers",
            api.get(request, Map.of(), "streams", stream, "subscribers"),
            "event",
            event,
            "isFirst",
            before.isEmpty(),
            "maySend",
            request.may(Role.SEND)));
  }

  private Response system(Request request) throws Exception {
    return pages.show(
        request,
        "system.jte",
        new Pages.Head("System", "system", "all"),
        Map.of(
            "system", api.get(request, Map.of(), "system"),
            "nodes", api.get(request, Map.of(), "nodes")));
  }

  private Response reload(Request request, Map<String, String> fields) throws Exception {
    var done = api.post(request.because(SessionScreen.reason(fields)), Map.of(), "admin", "reload");
    var applied = done.texts("applied");
    var restart = done.texts("needsRestart");
    return pages.tell(
        "/ui/system",
        (applied.isEmpty()
                ? "Nothing has changed."
                : "Applied: " + String.join(", ", applied) + ".")
            + (restart.isEmpty() ? "" : " Needs a restart: " + String.join(", ", restart) + "."),
        Links.audit("configuration"));
  }
}
