package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shows one session: why it does not move, its history, and the possible acts. */
final class SessionScreen {
  private static final List<String> VIEWS =
      List.of("timeline", "messages", "letters", "state", "events");

  private static final String LIMIT = "50";

  /** The timeline shows this many or more consecutive sent messages as one row. */
  private static final int TOGETHER = 4;

  private final Pages pages;
  private final Api api;

  SessionScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
  }

  List<Route> routes() {
    return List.of(
        pages
            .get("/ui/queues/{queue}/session", Role.READ, Scope.queue(), this::show)
            .query("id", "The session")
            .query("view", "timeline, messages, letters, state or events")
            .query("before", "Only events before this time")
            .query("cursor", "The next page"),
        pages.form("/ui/queues/{queue}/session", Role.OPERATE, Scope.queue(), this::act));
  }

  private Response show(Request request) throws Exception {
    var queue = request.parameter("queue");
    var id = request.query().getOrDefault("id", "");
    var asked = request.query().getOrDefault("view", "");
    var view = VIEWS.contains(asked) ? asked : VIEWS.getFirst();
    var ofSession = Api.query("sessionId", id);
    var session = api.get(request, ofSession, "queues", queue, "session");
    var state = api.find(request, ofSession, "queues", queue, "session", "state");
    var model = new LinkedHashMap<String, Object>();
    model.put("queue", queue);
    model.put("session", session);
    model.put("state", state.orElse(Data.NOTHING));
    model.put("view", view);
    model.put("canShow", state.isPresent());
    var before = request.query().getOrDefault("before", "");
    var cursor = request.query().getOrDefault("cursor", "");
    model.put("isFirst", before.isEmpty() && cursor.isEmpty());
    boolean isTimeline = state.isPresent() && view.equals("timeline");
    model.put(
        "timeline",
        isTimeline
            ? api.get(
                request,
                Api.query("sessionId", id, "before", before),
                "queues",
                queue,
                "session",
                "timeline")
            : Data.NOTHING);
    boolean isMessages = state.isPresent() && view.equals("messages");
    model.put(
        "messages",
        isMessages
            ? api.get(
                request,
                Api.query("sessionId", id, "limit", LIMIT, "cursor", cursor),
                "queues",
                queue,
                "session",
                "messages")
            : Data.NOTHING);
    model.put(
        "letters",
        api.find(
                request,
                Api.query(
                    "sessionId",
                    id,
                    "limit",
                    LIMIT,
                    "cursor",
                    view.equals("letters") ? cursor : ""),
                "queues",
                queue,
                "dead-letters",
                "search")
            .orElse(Data.NOTHING));
    model.put("events", events(request, id, view, cursor));
    return pages.show(request, "session.jte", new Pages.Head(id, "queues", queue, 1), model);
  }

  /** Returns GitHub's events of the session; nothing on a server that takes none. */
  private Data events(Request request, String id, String view, String cursor) throws Exception {
    if (!api.has("GET", "/events")) {
      return Data.NOTHING;
    }
    boolean isShown = view.equals("events");
    return api.find(
            request,
            Api.query(
                "sessionId", id, "limit", isShown ? LIMIT : "1", "cursor", isShown ? cursor : ""),
            "events")
        .orElse(Data.NOTHING);
  }

  private Response act(Request request, Map<String, String> fields) throws Exception {
    var queue = request.parameter("queue");
    var id = fields.getOrDefault("id", "");
    var act = fields.getOrDefault("act", "");
    requireReason(fields);
    requireTyped(fields);
    var done =
        api.post(
            request,
            Map.of("sessionId", id, "action", act, "reason", fields.get("reason")),
            "queues",
            queue,
            "sessions",
            "actions");
    return pages.tell(
        Links.session(queue, id),
        told(act, id, done.number("affected")),
        Links.audit(queue + "/" + id));
  }

  /** Refuses an act without a reason, because the next operator would not know why. */
  static void requireReason(Map<String, String> fields) {
    var unused = reason(fields);
  }

  /** Returns the reason of an act; an act without one is refused. */
  static String reason(Map<String, String> fields) {
    if (fields.getOrDefault("reason", "").isBlank()) {
      throw Problem.invalid("reason", "is missing; say why, for the next person").toException();
    }
    return fields.getOrDefault("reason", "");
  }

  /**
   * Refuses an act that cannot be undone, unless the person typed the number of affected objects.
   */
  static void requireTyped(Map<String, String> fields) {
    var count = fields.getOrDefault("count", "");
    if (!count.isEmpty() && !count.equals(fields.getOrDefault("typed", "").strip())) {
      throw Problem.invalid("typed", "must be " + count + ", as the dialog says").toException();
    }
  }

  private static String told(String act, String id, long affected) {
    if (affected == 0) {
      return "Nothing has changed: " + id + " was in that state already.";
    }
    return switch (act) {
      case "resume" -> id + " moves again.";
      case "pause" -> id + " is paused.";
      case "park" -> id + " is parked.";
      case "release" -> id + " was taken from its owner.";
      default ->
          Show.plural(affected, "message of ", "messages of ")
              + id
              + (affected == 1 ? " is a dead letter now." : " are dead letters now.");
    };
  }

  /**
   * A row of the timeline.
   *
   * @param moments one moment, or consecutive moments about many waiting messages
   */
  record Row(List<Data> moments) {
    Data first() {
      return moments.getFirst();
    }

    boolean isOne() {
      return moments.size() == 1;
    }
  }

  /** Returns the rows of a timeline, with consecutive sent messages in one row. */
  static List<Row> rows(Data timeline) {
    var rows = new ArrayList<Row>();
    var run = new ArrayList<Data>();
    for (var moment : timeline.list("moments")) {
      if (!isPlain(moment)) {
        rows.addAll(together(run));
        run.clear();
        rows.add(new Row(List.of(moment)));
      } else {
        run.add(moment);
      }
    }
    rows.addAll(together(run));
    return rows;
  }

  private static boolean isPlain(Data moment) {
    return moment.text("kind").equals("sent") && !moment.has("eventId");
  }

  private static List<Row> together(List<Data> run) {
    return run.size() >= TOGETHER
        ? List.of(new Row(List.copyOf(run)))
        : run.stream().map(one -> new Row(List.of(one))).toList();
  }

  /** Says which act helps a session of this status; blank if none is needed. */
  static String advice(String status) {
    return switch (status) {
      case "parked" ->
          "Is the cause gone? Press Resume: the same message is tried first. Is the message wrong?"
              + " Press Dead-letter head, repair it there and replay it, then Resume.";
      case "paused" -> "Press Resume when it may go on.";
      case "waiting" -> "Press Resume to try it now instead of later.";
      case "held" -> "Does its owner hang? Then press Release: the next owner gets the message.";
      default -> "";
    };
  }

  static String tab(String queue, String id, String view) {
    return Links.with(Links.session(queue, id), Map.of("view", view));
  }

  /** Describes the effect of an act. */
  static String effect(String act, Data session) {
    var owner =
        session.has("owner")
            ? " " + session.text("owner") + " holds it now and loses it; its work comes again."
            : "";
    return switch (act) {
      case "deadLetterHead" ->
          "The first message is set aside with its error, and the session can go on behind it."
              + owner;
      case "deadLetterAll" ->
          Show.plural(session.number("backlog"), "message is", "messages are")
              + " set aside, in order. The session is empty afterwards."
              + owner;
      case "release" ->
          "The message in hand is delivered again, without counting an attempt." + owner;
      case "pause" -> "It is handed out to nobody until a person resumes it." + owner;
      default -> "It is set aside with everything in it until a person resumes it." + owner;
    };
  }
}
