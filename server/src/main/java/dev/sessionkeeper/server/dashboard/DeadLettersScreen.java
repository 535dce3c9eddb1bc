package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Shows dead letters of a queue by cause and one by one, and repairs, replays and discards them.
 */
final class DeadLettersScreen {
  private static final int MOST_EDITED = 256 << 10;
  private static final String PATH = "/ui/queues/{queue}/dead-letters";

  private final Pages pages;
  private final Api api;

  DeadLettersScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
  }

  List<Route> routes() {
    return List.of(
        pages
            .get(PATH, Role.READ, Scope.queue(), this::list)
            .query("session", "Only dead letters of this session")
            .query("reason", "A part of the error or reason")
            .query("fingerprint", "Only dead letters of this cause")
            .query("from", "That died at this time or later, in UTC")
            .query("to", "That died before this time, in UTC")
            .query("order", "newest or oldest first")
            .query("cursor", "The next page"),
        pages.get(PATH + "/{id}", Role.READ, Scope.queue(), this::show),
        pages.get(PATH + "/{id}/body", Role.READ, Scope.queue(), this::download),
        pages.form(PATH + "/replay", Role.OPERATE, Scope.queue(), this::replaySession),
        pages.form(PATH + "/{id}/repair", Role.OPERATE, Scope.queue(), this::repair),
        pages.form(PATH + "/{id}/replay", Role.OPERATE, Scope.queue(), this::replay),
        pages.form(PATH + "/{id}/discard", Role.OPERATE, Scope.queue(), this::discard));
  }

  private Response list(Request request) throws Exception {
    var queue = request.parameter("queue");
    var query = request.query();
    var filter = new LinkedHashMap<String, String>();
    for (var name : List.of("session", "reason", "fingerprint", "from", "to")) {
      filter.put(name, query.getOrDefault(name, "").strip());
    }
    var cursor = query.getOrDefault("cursor", "");
    boolean isFirst = cursor.isEmpty() && filter.values().stream().allMatch(String::isEmpty);
    var model = new LinkedHashMap<String, Object>();
    boolean canSearch = api.has("GET", "/queues/{queue}/dead-letters/search");
    // Queues elsewhere list their dead letters in one direction only.
    boolean isOldest = !canSearch || query.getOrDefault("order", "").equals("oldest");
    model.put("queue", queue);
    model.put("filter", filter);
    model.put("isOldest", isOldest);
    model.put("canSort", canSearch);
    model.put("isFirst", cursor.isEmpty());
    model.put("canBulk", api.has("POST", "/queues/{queue}/bulk"));
    model.put(
        "groups",
        isFirst
            ? api.find(request, Map.of(), "queues", queue, "dead-letters", "groups")
                .orElse(Data.NOTHING)
            : Data.NOTHING);
    model.put(
        "letters",
        api.get(
            request,
            Api.query(
                "sessionId", filter.getOrDefault("session", ""),
                "reason", filter.getOrDefault("reason", ""),
                "fingerprint", filter.getOrDefault("fingerprint", ""),
                "from", instant(filter.getOrDefault("from", "")),
                "to", instant(filter.getOrDefault("to", "")),
                "order", canSearch && isOldest ? "oldest" : "",
                "limit", "50",
                "cursor", cursor),
            "queues",
            queue,
            "dead-letters",
            canSearch ? "search" : ""));
    return pages.show(
        request, "deadletters.jte", new Pages.Head("Dead letters", "queues", queue, 5), model);
  }

  private Response show(Request request) throws Exception {
    var queue = request.parameter("queue");
    var answer =
        api.get(
            request, Map.of(), "queues", queue, "dead-letters", request.parameter("id"), "repairs");
    return pages.show(
        request,
        "deadletter.jte",
        new Pages.Head("Dead letter " + request.parameter("id"), "queues", ""),
        Map.of("queue", queue, "answer", answer));
  }

  /** Returns the body unchanged, for bodies that no page can show. */
  private Response download(Request request) throws Exception {
    var id = request.parameter("id");
    var letter =
        api.get(
                request,
                Map.of(),
                "queues",
                request.parameter("queue"),
                "dead-letters",
                id,
                "repairs")
            .at("deadLetter");
    var bytes =
        letter.has("bodyBase64")
            ? Base64.getDecoder().decode(letter.text("bodyBase64"))
            : text(letter).getBytes(StandardCharsets.UTF_8);
    return Response.bytes(200, "application/octet-stream", bytes)
        .header("Content-Disposition", "attachment; filename=\"dead-letter-" + id + "\"")
        .header("Content-Security-Policy", Pages.POLICY);
  }

  /** Saves the edited body, and replays the message if the form asks for it. */
  private Response repair(Request request, Map<String, String> form) throws Exception {
    var queue = request.parameter("queue");
    var id = request.parameter("id");
    boolean isReplay = form.getOrDefault("then", "").equals("replay");
    var fields = new HashMap<>(form);
    fields.put("reason", form.getOrDefault(isReplay ? "reasonReplay" : "reasonSave", ""));
    SessionScreen.requireReason(fields);
    var body = form.getOrDefault("body", "").replace("\r\n", "\n");
    var letter =
        api.send(
            request,
            "PUT",
            Map.of(
                "body", body,
                "sha256", form.getOrDefault("sha256", ""),
                "reason", fields.get("reason")),
            "queues",
            queue,
            "dead-letters",
            id,
            "body");
    var session = letter.text("sessionId");
    var audit = Links.audit(session.isEmpty() ? queue : queue + "/" + session);
    if (!isReplay) {
      return pages.tell(Links.deadLetter(queue, id), "The body is saved.", audit);
    }
    return replay(
        request.because(fields.get("reason")),
        queue,
        letter.text("messageId"),
        session,
        "The body is saved. ");
  }

  private Response replay(Request request, Map<String, String> fields) throws Exception {
    return replay(
        request.because(SessionScreen.reason(fields)),
        request.parameter("queue"),
        fields.getOrDefault("messageId", ""),
        fields.getOrDefault("session", ""),
        "");
  }

  private Response replay(
      Request request, String queue, String message, String session, String before)
      throws Exception {
    var done =
        api.post(
            request,
            Map.of("messageIds", List.of(message)),
            "queues",
            queue,
            "dead-letters",
            "replay");
    return pages.tell(
        session.isEmpty() ? Links.deadLetters(queue) : Links.session(queue, session),
        before
            + (done.number("replayed") == 1
                ? "The message is back in its old place."
                : "The message was not put back: it is no dead letter any more."),
        Links.audit(session.isEmpty() ? queue : queue + "/" + session));
  }

  private Response replaySession(Request request, Map<String, String> fields) throws Exception {
    var because = request.because(SessionScreen.reason(fields));
    var queue = request.parameter("queue");
    var session = fields.getOrDefault("session", "");
    var done =
        api.post(because, Map.of("sessionId", session), "queues", queue, "dead-letters", "replay");
    return pages.tell(
        Links.session(queue, session),
        Show.plural(done.number("replayed"), "message is", "messages are") + " back.",
        Links.audit(queue + "/" + session));
  }

  private Response discard(Request request, Map<String, String> fields) throws Exception {
    var because = request.because(SessionScreen.reason(fields));
    SessionScreen.requireTyped(fields);
    var queue = request.parameter("queue");
    var id = request.parameter("id");
    api.send(because, "DELETE", Map.of(), "queues", queue, "dead-letters", id);
    return pages.tell(
        Links.deadLetters(queue), "Dead letter " + id + " is gone.", Links.audit(queue + "/" + id));
  }

  /** Converts the value of a browser's time field, such as 2026-01-31T12:00, to the API's form. */
  static String instant(String local) {
    return local.matches("[0-9-]{10}T[0-9:]{5}") ? local + ":00Z" : local;
  }

  /** Returns the body as text, as it was sent. */
  static String text(Data letter) {
    return letter.has("body") ? letter.text("body") : letter.text("bodyText");
  }

  /** Returns whether a browser form can carry the body unchanged. */
  static boolean canEdit(Data letter) {
    return text(letter).length() <= MOST_EDITED;
  }
}
