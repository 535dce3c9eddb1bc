package dev.sessionkeeper.server.http;

import dev.sessionkeeper.store.Actor;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import java.util.regex.Pattern;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request: its route, its parameters and headers, and who sent it.
 *
 * <p>Threading: the route is found and the caller admitted on the event loop, before a handler
 * runs; a reload admits the caller again on any thread.
 */
final class RequestHead implements Gate.Visit {
  private static final Pattern CORRELATION_ID = Pattern.compile("[A-Za-z0-9._:-]{1,64}");
  private static final String NO_ROUTE = "none";

  private final Kernel kernel;
  private final HttpServerRequest request;
  private final String correlationId;
  private Map<String, String> query = Map.of();
  private RouteTable.@Nullable Match match;
  private volatile Caller caller = Caller.ANONYMOUS;

  RequestHead(Kernel kernel, HttpServerRequest request) {
    this.kernel = kernel;
    this.request = request;
    var given = request.getHeader("X-Correlation-Id");
    this.correlationId =
        given != null && CORRELATION_ID.matcher(given).matches() ? given : kernel.nextId();
  }

  /**
   * Finds the route and admits the caller.
   *
   * @throws RuntimeException if the request is refused
   */
  void judge() {
    CheckHead.framing(request.version(), request.headers());
    var target = RequestTarget.parse(request.uri());
    match = kernel.routes().find(request.method().name(), target.path());
    query = target.query();
    kernel.refuseIfDraining(route());
    CheckSite.check(route(), this, kernel.cors().allows(header("Origin")));
    caller = admitted();
    CheckAccess.check(route(), parameters(), query, caller);
    CheckHead.check(route(), query, header("Content-Type"), header("Content-Encoding"), hasBody());
  }

  /** A concurrent reload either sees the caller, or its change is seen here. */
  private Caller admitted() {
    while (true) {
      long admissions = kernel.admissions();
      caller = kernel.gate().admit(this);
      if (admissions == kernel.admissions()) {
        return caller;
      }
    }
  }

  /**
   * Admits the caller again after a reload.
   *
   * @return whether its rights are unchanged
   * @throws ProblemException if the caller may no longer call
   */
  boolean readmit() {
    var before = caller;
    if (before.equals(Caller.ANONYMOUS)) {
      return true; // The request was not judged yet, or its route requires no credential.
    }
    var again = kernel.gate().admitAgain(this);
    CheckAccess.check(route(), parameters(), query, again);
    return again.equals(before);
  }

  private boolean hasBody() {
    return !header("Transfer-Encoding").isEmpty()
        || !(header("Content-Length").isEmpty() || header("Content-Length").equals("0"));
  }

  /** Returns the limit of the body; without a route no body is taken. */
  BodyLimit bodyLimit() {
    return match == null ? BodyLimit.none() : BodyLimit.of(match.route());
  }

  String correlationId() {
    return correlationId;
  }

  Caller caller() {
    return caller;
  }

  Actor actor() {
    return new Actor(caller.name(), source());
  }

  Map<String, String> query() {
    return query;
  }

  String method() {
    return request.method().name();
  }

  /** Returns the route as people write it, for logs and metrics. */
  String routeName() {
    return match == null ? NO_ROUTE : match.route().toString();
  }

  /** Returns the path and query as they were sent. */
  String target() {
    return request.uri();
  }

  /** Returns the refusal for the caller: a problem, or a page if the route is one. */
  Response refusal(Problem problem) {
    var found = match;
    return found == null
        ? Response.of(problem, correlationId)
        : found
            .route()
            .refusals()
            .map(page -> page.render(problem, this, target(), correlationId))
            .orElseGet(() -> Response.of(problem, correlationId));
  }

  @Override
  public Route route() {
    return matched().route();
  }

  @Override
  public Map<String, String> parameters() {
    return matched().parameters();
  }

  @Override
  public String header(String name) {
    var value = request.getHeader(name);
    return value == null ? "" : value;
  }

  @Override
  public String query(String name) {
    return query.getOrDefault(name, "");
  }

  @Override
  public String certificateSubject() {
    try {
      var session = request.connection().sslSession();
      return session == null ? "" : session.getPeerPrincipal().getName();
    } catch (SSLPeerUnverifiedException e) {
      return "";
    }
  }

  @Override
  public String source() {
    var address = request.remoteAddress();
    return address == null ? "" : address.hostAddress();
  }

  RouteTable.Match matched() {
    if (match == null) {
      throw new IllegalStateException("No route was found for this request");
    }
    return match;
  }
}
