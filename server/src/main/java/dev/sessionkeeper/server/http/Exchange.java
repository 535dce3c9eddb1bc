package dev.sessionkeeper.server.http;

import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * One request from its head to its answer.
 *
 * <p>Threading: the head is judged and the body taken in on the event loop; the handler runs on a
 * virtual thread of its own; the answer is written on the event loop again. I1: a request is
 * answered once, or its client has gone.
 */
final class Exchange implements Gate.Visit {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);
  private static final Pattern CORRELATION_ID = Pattern.compile("[A-Za-z0-9._:-]{1,64}");
  private static final String NO_ROUTE = "none";

  private final Kernel kernel;
  private final Context context;
  private final HttpServerRequest request;
  private final String correlationId;
  private final long startedNanos;
  private final Waiting waiting = new Waiting();
  private final WriteResponse out;
  private Map<String, String> query = Map.of();
  private RouteTable.@Nullable Match match;
  private volatile Caller caller = Caller.ANONYMOUS;
  private volatile boolean isStreaming;

  Exchange(Kernel kernel, Context context, HttpServerRequest request) {
    this.kernel = kernel;
    this.context = context;
    this.request = request;
    this.startedNanos = kernel.time().nanoTime();
    var given = request.getHeader("X-Correlation-Id");
    this.correlationId =
        given != null && CORRELATION_ID.matcher(given).matches() ? given : kernel.nextId();
    this.out = new WriteResponse(request, waiting, correlationId, kernel::isLeaving);
  }

  /** Judges the head and takes in the body. */
  void begin() {
    kernel.began(this);
    request.response().closeHandler(closed -> clientGone());
    request.exceptionHandler(this::brokeOff);
    var refusal = judge();
    var body = new ReadBody(request, kernel.budget(), maxBody(), new Then());
    refusal.ifPresent(body::refuse);
    var timeout =
        kernel.timer(
            () -> body.cut(ProblemType.REQUEST_TIMEOUT.with("The body did not arrive in time")));
    body.start();
    request.end().onComplete(done -> timeout.run());
  }

  /** Ends its wait because the server shuts down. */
  void drain() {
    waiting.drain();
  }

  /** Ends its wait or stream if its caller may not call any more; on any thread. */
  void readmit() {
    var before = caller;
    if (before.equals(Caller.ANONYMOUS)) {
      return; // Not judged yet, or at a route that asks for no credential.
    }
    try {
      if (!kernel.gate().admitAgain(this).equals(before)) {
        // It may see more or less than before. It comes again and is served by its new rights.
        drain();
      }
    } catch (ProblemException e) {
      refuse(e.problem());
    }
  }

  private void refuse(Problem problem) {
    log.info("{} of {} ends: {}", routeName(), caller.name(), problem.detail());
    waiting.refuse(problem);
    if (isStreaming) {
      endStream();
    }
  }

  private void endStream() {
    waiting.clientGone();
    onLoop(out::cut);
  }

  <T> Optional<T> await(ResponseStream.Wait<T> wait) throws Exception {
    return waiting.await(wait);
  }

  String correlationId() {
    return correlationId;
  }

  Map<String, String> query() {
    return query;
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
  public String certificateSubject() {
    try {
      var session = request.connection().sslSession();
      return session == null ? "" : session.getPeerPrincipal().getName();
    } catch (SSLPeerUnverifiedException e) {
      return "";
    }
  }

  private Optional<Problem> judge() {
    try {
      if (request.version() == io.vertx.core.http.HttpVersion.HTTP_1_1
          && header("Host").isEmpty()) {
        return Optional.of(ProblemType.MALFORMED_HTTP.with("A request names its Host"));
      }
      var target = RequestTarget.parse(request.uri());
      match = kernel.routes().find(request.method().name(), target.path());
      query = target.query();
      kernel.refuseIfDraining(route());
      caller = admitted();
      CheckHead.check(
          route(), query, header("Content-Type"), header("Content-Encoding"), hasBody());
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(ProblemOf.failure(e, routeName()));
    }
  }

  /** A reload in the same moment either sees the caller, or is seen here. */
  private Caller admitted() {
    while (true) {
      long admissions = kernel.admissions();
      caller = kernel.gate().admit(this);
      if (admissions == kernel.admissions()) {
        return caller;
      }
    }
  }

  private boolean hasBody() {
    return !header("Transfer-Encoding").isEmpty()
        || !(header("Content-Length").isEmpty() || header("Content-Length").equals("0"));
  }

  /** What happens when the body is there, or is out of the way. */
  private final class Then implements ReadBody.Then {
    @Override
    public void serve(byte[] body) {
      kernel.startThread(() -> run(body));
    }

    @Override
    public void refuse(Problem problem, boolean cut) {
      out.write(Response.of(problem, correlationId), cut);
      answered(problem.type().status());
    }
  }

  private void run(byte[] body) {
    MDC.put("correlationId", correlationId);
    try {
      var response = unlessRefused(handleListened(body));
      switch (response.body()) {
        case Response.Body.Bytes bytes -> deliver(response);
        case Response.Body.Streamed stream -> out.stream(response, stream.writer(), this::onLoop);
      }
      answered(response.status());
    } catch (ClientGone e) {
      log.debug("The client of {} has gone", routeName());
      answered(499);
    } catch (Throwable e) {
      log.error("The answer to {} broke off", routeName(), e);
      onLoop(() -> request.connection().close());
      answered(500);
    }
  }

  /** Gives back the result of a wait if the caller was refused meanwhile. */
  private Response unlessRefused(Response response) {
    isStreaming = response.body() instanceof Response.Body.Streamed;
    var refusal = isStreaming ? waiting.refusal() : waiting.refusalOfResult();
    if (refusal.isEmpty()) {
      return response;
    }
    isStreaming = false;
    response.undeliveredTasks().forEach(Runnable::run);
    return Response.of(refusal.get(), correlationId);
  }

  private Response handleListened(byte[] body) {
    var handling = kernel.listener().handling(routeName(), this::header);
    int status = 499;
    try {
      var response = handle(body);
      status = response.status();
      return response;
    } finally {
      handling.ended(status);
    }
  }

  private Response handle(byte[] body) {
    try {
      var call = new Request(this, caller, body);
      if (route().docs().request().isEmpty()) {
        call.requireNoFields();
      }
      return route().handler().handle(call);
    } catch (ClientGone e) {
      throw e;
    } catch (Throwable e) {
      return Response.of(ProblemOf.failure(e, routeName()), correlationId);
    }
  }

  private void deliver(Response response) {
    if (response.undeliveredTasks().isEmpty()) {
      onLoop(() -> out.write(response, false));
    } else if (!out.writeAndWait(response, this::onLoop)) {
      response.undeliveredTasks().forEach(Runnable::run);
      throw new ClientGone();
    }
  }

  private void onLoop(Runnable task) {
    context.runOnContext(ignored -> task.run());
  }

  private void clientGone() {
    waiting.clientGone();
  }

  /** The connection failed, or what came over it was no HTTP any more. */
  private void brokeOff(Throwable cause) {
    log.debug("{} broke off: {}", routeName(), cause.toString());
    waiting.clientGone();
    kernel.ended(this);
  }

  private void answered(int status) {
    kernel.ended(this);
    kernel.listener().answered(routeName(), status, kernel.time().since(startedNanos));
  }

  private long maxBody() {
    return match == null ? 0 : match.route().maxBody();
  }

  private String routeName() {
    return match == null ? NO_ROUTE : match.route().toString();
  }

  private RouteTable.Match matched() {
    if (match == null) {
      throw new IllegalStateException("No route was found for this request");
    }
    return match;
  }
}
