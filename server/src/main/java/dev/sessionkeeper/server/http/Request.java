package dev.sessionkeeper.server.http;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.store.Actor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** One request and its caller. Used by the request's own thread only. */
public final class Request {
  /** How much longer a request may take that processes many rows, such as a replay. */
  public static final Duration MUCH_WORK = Duration.ofMinutes(1);

  private static final byte[] EMPTY_OBJECT = "{}".getBytes(StandardCharsets.US_ASCII);
  private static final int DEFAULT_LIMIT = 100;

  private final Exchange exchange;
  private final Caller caller;
  private final RouteTable.Match match;
  private final Map<String, String> query;
  private final byte[] body;
  private final String reason;
  private final AtomicBoolean isReachAsked;

  Request(
      Exchange exchange,
      Caller caller,
      RouteTable.Match match,
      Map<String, String> query,
      byte[] body) {
    this(exchange, caller, match, query, body, Reason.in(exchange.head()), new AtomicBoolean());
  }

  private Request(
      Exchange exchange,
      Caller caller,
      RouteTable.Match match,
      Map<String, String> query,
      byte[] body,
      String reason,
      AtomicBoolean isReachAsked) {
    this.exchange = exchange;
    this.caller = caller;
    this.match = match;
    this.query = query;
    this.body = body;
    this.reason = reason;
    this.isReachAsked = isReachAsked;
  }

  /** Returns the same request with the reason that a person gave in its form. */
  public Request because(String why) {
    return new Request(exchange, caller, match, query, body, why, isReachAsked);
  }

  /** Returns a request for another route inside this one, for the same caller. */
  Request within(RouteTable.Match other, Map<String, String> otherQuery, byte[] otherBody) {
    return new Request(exchange, caller, other, otherQuery, otherBody, reason, new AtomicBoolean());
  }

  /** Returns a path parameter, decoded: never empty, without control characters and slashes. */
  public String parameter(String name) {
    var value = match.parameters().get(name);
    if (value == null) {
      throw new IllegalArgumentException(match.route() + " has no parameter " + name);
    }
    return value;
  }

  /** Returns when the caller's credential expires; empty if it does not. */
  public Optional<Instant> credentialEnd() {
    return caller.until();
  }

  /**
   * Returns the query parameters, each at most once. Parameters that the route does not name were
   * refused.
   */
  public Map<String, String> query() {
    return query;
  }

  /** Returns the path and query as they were sent. */
  public String target() {
    return exchange.head().target();
  }

  /** Reads the query parameters as the fields of an object of texts. */
  public <T> T query(Function<Fields, T> reader) {
    return Fields.read(query, reader);
  }

  /** Returns a request header; blank if absent. */
  public String header(String name) {
    return exchange.head().header(name);
  }

  /** Returns the body as it was sent. The array belongs to the request. */
  public byte[] body() {
    return body;
  }

  /** Reads the body as a JSON object; a missing body counts as an empty object. */
  public <T> T json(Function<Fields, T> reader) {
    return Fields.read(body.length == 0 ? EMPTY_OBJECT : body, reader);
  }

  /** Accepts a missing body or an empty object, and refuses anything else. */
  void requireNoFields() {
    if (body.length > 0) {
      json(
          in -> {
            in.check();
            return "";
          });
    }
  }

  /** Returns the caller, its address and its reason, for the audit log. */
  public Actor actor() {
    return exchange.head().actor().because(reason);
  }

  /**
   * Returns the tenants and queues whose rows this request may read or change. A handler of a route
   * with the scope tenant or queues must call it, otherwise its answer is not sent.
   */
  public Reach reach() {
    isReachAsked.set(true);
    return caller.reach();
  }

  /** Fails if the handler of a route whose scope depends on rows did not ask for the reach. */
  void requireReachWasAsked() {
    if (match.route().scope().isDecidedByRows() && !isReachAsked.get()) {
      throw new IllegalStateException(
          match.route() + " answered without asking for the reach of its caller");
    }
  }

  /** Returns whether the caller has this role, for pages that leave out forbidden acts. */
  public boolean may(Role role) {
    return caller.has(role);
  }

  Caller caller() {
    return caller;
  }

  /** Returns the id of this request in logs and problems. */
  public String correlationId() {
    return exchange.head().correlationId();
  }

  /** Returns the page selected by {@code limit} and {@code cursor}; the default limit is 100. */
  public static Page.Request page(Fields in) {
    var limit = in.optional("limit", DEFAULT_LIMIT, Decode.integer(1, Page.Request.MAX_LIMIT));
    var cursor = in.optional("cursor", Decode.text(4096));
    in.check();
    return new Page.Request(limit.get(), cursor.get());
  }

  /**
   * Waits for something while the client is connected. Only a wait inside this call is interrupted
   * when the client closes its connection; all other work of a handler runs to its end.
   *
   * @return empty if the server shuts down: answer that there is nothing
   * @throws ClientGone as soon as the client has closed its connection; let it propagate
   */
  public <T> Optional<T> await(ResponseStream.Wait<T> wait) throws Exception {
    return exchange.await(wait);
  }

  /** Extends the handler's deadline, because the handler waits by design or has much work. */
  public void extendDeadline(Duration longer) {
    exchange.extendDeadline(longer);
  }

  /**
   * Reserves memory for an answer before the answer is made.
   *
   * @return how many bytes the answer may have, from {@code least} to {@code most}
   * @throws ProblemException 503 if less is free because clients have not read their answers
   */
  public long reserve(long least, long most) {
    return exchange.reserve(least, most);
  }

  /** Releases the reserved memory while the handler waits. */
  public void unreserve() {
    exchange.unreserve();
  }

  static boolean isJson(String contentType) {
    var parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
    if (!parts[0].strip().equals("application/json")) {
      return false;
    }
    for (int i = 1; i < parts.length; i++) {
      var parameter = parts[i].strip().replace("\"", "");
      if (parameter.startsWith("charset=") && !parameter.equals("charset=utf-8")) {
        return false;
      }
    }
    return true;
  }
}
