package dev.sessionkeeper.server.http;

import java.util.Optional;

/**
 * One call of the API: its path, the role and the scope that it needs, its input and answers, and
 * its handler. Dispatch, access checks, OpenAPI and the access tests are all derived from it.
 * Immutable; the methods that describe it return a copy.
 *
 * {@snippet :
 * Route.get("/queues/{queue}", Role.READ, Scope.queue(), this::show)
 *     .summary("One queue with its numbers")
 *     .answers(200, "The queue", QueueView.class)
 *     .problems(ProblemType.UNKNOWN_QUEUE);
 * }
 */
public final class Route {
  /** The largest request body by default: 16 MiB. */
  public static final long DEFAULT_MAX_BODY = 16L << 20;

  private final String method;
  private final PathTemplate path;
  private final Role role;
  private final Scope scope;
  private final Handler handler;
  private final RouteDocs docs;
  private final long maxBody;
  private final Optional<RefusalPage> page;

  private Route(
      String method,
      PathTemplate path,
      Role role,
      Scope scope,
      Handler handler,
      RouteDocs docs,
      long maxBody,
      Optional<RefusalPage> page) {
    this.method = method;
    this.path = path;
    this.role = role;
    this.scope = scope;
    this.handler = handler;
    this.docs = docs;
    this.maxBody = maxBody;
    this.page = page;
  }

  public static Route get(String path, Role role, Scope scope, Handler handler) {
    return of("GET", path, role, scope, handler);
  }

  public static Route put(String path, Role role, Scope scope, Handler handler) {
    return of("PUT", path, role, scope, handler);
  }

  public static Route post(String path, Role role, Scope scope, Handler handler) {
    return of("POST", path, role, scope, handler);
  }

  public static Route delete(String path, Role role, Scope scope, Handler handler) {
    return of("DELETE", path, role, scope, handler);
  }

  private static Route of(String method, String path, Role role, Scope scope, Handler handler) {
    var template = PathTemplate.of(path);
    if ((role == Role.ANYONE) != (scope instanceof Scope.Public)) {
      throw new IllegalArgumentException(
          path + " must have both the role anyone and the scope public, or neither");
    }
    if (scope instanceof Scope.Queue queue && !template.parameters().contains(queue.parameter())) {
      throw new IllegalArgumentException(
          path + " must have the parameter {" + queue.parameter() + "} of its scope");
    }
    return new Route(
        method, template, role, scope, handler, RouteDocs.NONE, DEFAULT_MAX_BODY, Optional.empty());
  }

  /** Sets one line of description. */
  public Route summary(String text) {
    return with(docs.summary(text));
  }

  /**
   * Accepts this query parameter. A parameter that the route does not name is refused before the
   * handler runs.
   */
  public Route query(String name, String description) {
    return query(name, description, Role.ANYONE);
  }

  /** Accepts this query parameter from callers that have this role beside the role of the route. */
  public Route query(String name, String description, Role needed) {
    return with(docs.query(new RouteDocs.Parameter(name, description, needed)));
  }

  /** Describes a request header; unknown headers are never refused. */
  public Route header(String name, String description) {
    return with(docs.header(new RouteDocs.Parameter(name, description, Role.ANYONE)));
  }

  /** Reads a JSON object with the components of this record; other media types are refused. */
  public Route takes(Class<? extends Record> type) {
    return with(docs.request(RouteDocs.Body.json(type)));
  }

  /** Reads JSON as {@link #takes(Class)} does; of its optional fields, at least one is needed. */
  public Route takesSomeOf(Class<? extends Record> type) {
    return with(docs.request(RouteDocs.Body.json(type).needed()));
  }

  /** Accepts bytes of any media type; this one appears only in the API description. */
  public Route takes(String mediaType) {
    return with(docs.request(RouteDocs.Body.of(mediaType)));
  }

  /** Answers with JSON as this record describes it. */
  public Route answers(int status, String description, Class<? extends Record> type) {
    var body = Optional.of(RouteDocs.Body.json(type));
    return with(docs.answer(new RouteDocs.Answer(status, description, body)));
  }

  /** Answers with bytes of this media type. */
  public Route answers(int status, String description, String mediaType) {
    var body = Optional.of(RouteDocs.Body.of(mediaType));
    return with(docs.answer(new RouteDocs.Answer(status, description, body)));
  }

  /** Answers without a body. */
  public Route answers(int status, String description) {
    return with(docs.answer(new RouteDocs.Answer(status, description, Optional.empty())));
  }

  /** Adds problems that the route may answer, in addition to those of every route. */
  public Route problems(ProblemType... types) {
    return with(docs.problems(types));
  }

  /** Sets the largest body in bytes. The default is 16 MB. */
  public Route maxBody(long bytes) {
    return new Route(method, path, role, scope, handler, docs, bytes, page);
  }

  /**
   * Makes the route a page for people: the API description leaves it out, browsers may use it with
   * their login cookie, and its refusals are pages as well.
   */
  public Route page(RefusalPage refusals) {
    return new Route(method, path, role, scope, handler, docs, maxBody, Optional.of(refusals));
  }

  public String method() {
    return method;
  }

  /** Returns the path with its parameters in braces. */
  public String path() {
    return path.text();
  }

  public Role role() {
    return role;
  }

  public Scope scope() {
    return scope;
  }

  /** Returns whether the route is a page for people. */
  public boolean isPage() {
    return page.isPresent();
  }

  Optional<RefusalPage> refusals() {
    return page;
  }

  public long maxBody() {
    return maxBody;
  }

  PathTemplate template() {
    return path;
  }

  Handler handler() {
    return handler;
  }

  RouteDocs docs() {
    return docs;
  }

  /** Returns method and path, such as {@code GET /queues/{queue}}. */
  @Override
  public String toString() {
    return method + " " + path.text();
  }

  private Route with(RouteDocs newDocs) {
    return new Route(method, path, role, scope, handler, newDocs, maxBody, page);
  }
}
