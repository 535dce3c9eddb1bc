package dev.sessionkeeper.server.http;

import dev.sessionkeeper.server.http.Progress.Phase;
import dev.sessionkeeper.store.Actor;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
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
 * answered once, or its client has gone. I2: the bytes of its body are given back when its handler
 * has ended, or when none will run; those of its answer when the socket has taken them or is gone.
 */
final class Exchange implements Gate.Visit {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);
  private static final Pattern CORRELATION_ID = Pattern.compile("[A-Za-z0-9._:-]{1,64}");
  private static final String NO_ROUTE = "none";

  /** How long a client that is still sending has to read its refusal. */
  private static final Duration LINGER = Duration.ofSeconds(2);

  private final Kernel kernel;
  private final Context context;
  private final HttpServerRequest request;
  private final String correlationId;
  private final long startedNanos;
  private final Waiting waiting = new Waiting();
  private final Progress progress;
  private final MemoryBudget.Share bodyBytes;
  private final MemoryBudget.Share answerBytes;
  private final WriteResponse out;
  private final AtomicBoolean counted = new AtomicBoolean();
  private @Nullable ReadBody body;
  private volatile @Nullable Thread thread;
  private Map<String, String> query = Map.of();
  private RouteTable.@Nullable Match match;
  private volatile Caller caller = Caller.ANONYMOUS;
  private volatile boolean isStreaming;

  Exchange(Kernel kernel, Context context, HttpServerRequest request) {
    this.kernel = kernel;
    this.context = context;
    this.request = request;
    this.startedNanos = kernel.time().nanoTime();
    this.progress = new Progress(startedNanos, kernel.options().requestTimeout());
    this.bodyBytes = kernel.requests().open();
    this.answerBytes = kernel.answers().open();
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
    var limit = match == null ? BodyLimit.none() : BodyLimit.of(match.route());
    var reading = new ReadBody(request, bodyBytes, limit, new Then());
    body = reading;
    reading.start(refusal);
  }

  /** Gives the request up if it has taken too long. */
  void lookAtTheTime() {
    if (progress.isLate(kernel.time().nanoTime())) {
      onLoop(this::endLate);
    }
  }

  private void endLate() {
    switch (progress.phase()) {
      case READING -> cutReading();
      case SERVING -> giveUp();
      // The client does not take its answer: what it holds is needed for others.
      case ANSWERING -> WriteResponse.cut(request.connection());
      case GIVEN_UP, STREAMING -> {}
    }
  }

  private void cutReading() {
    if (body != null) {
      body.cut(ProblemType.REQUEST_TIMEOUT.with("The body did not arrive in time"));
    }
  }

  private void giveUp() {
    if (!progress.move(Phase.SERVING, Phase.GIVEN_UP, kernel.time().nanoTime())) {
      return;
    }
    var problem = ProblemOf.late(request.method().name(), kernel.options().deadline(), routeName());
    write(Response.of(problem, correlationId));
    count(problem.type().status());
    var handling = thread;
    if (handling != null) {
      handling.interrupt();
    }
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
      var again = kernel.gate().admitAgain(this);
      CheckAccess.check(route(), parameters(), query, again);
      if (!again.equals(before)) {
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

  /** Lets the handler take so much longer than its deadline. */
  void mayTake(Duration longer) {
    progress.extend(longer);
  }

  /** As {@link Request#reserve}. */
  long reserve(long least, long most) {
    long granted = answerBytes.takeUpTo(least, most);
    if (granted == 0) {
      throw ProblemOf.tooManyAnswers().toException();
    }
    return granted;
  }

  void unreserve() {
    answerBytes.resizeTo(0);
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

  @Override
  public String source() {
    var address = request.remoteAddress();
    return address == null ? "" : address.hostAddress();
  }

  Actor actor() {
    return new Actor(caller.name(), source());
  }

  private Optional<Problem> judge() {
    try {
      CheckHead.framing(request.version(), request.headers());
      var target = RequestTarget.parse(request.uri());
      match = kernel.routes().find(request.method().name(), target.path());
      query = target.query();
      kernel.refuseIfDraining(route());
      CheckSite.check(route(), header("Sec-Fetch-Site"));
      caller = admitted();
      CheckAccess.check(route(), parameters(), query, caller);
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
    public void serve(byte[] bytes) {
      progress.move(
          Phase.READING, Phase.SERVING, kernel.time().nanoTime(), kernel.options().deadline());
      kernel.startThread(() -> run(bytes));
    }

    @Override
    public void refuse(Problem problem, ReadBody.Ending ending) {
      bodyBytes.close();
      enterAnswering(Phase.READING);
      var response = Response.of(problem, correlationId);
      var written =
          switch (ending) {
            case KEEP -> out.write(response, false);
            case LINGER -> out.writeAndLinger(response, close -> kernel.after(LINGER, close));
            case CLOSE -> out.writeAndLinger(response, Runnable::run);
          };
      written.onComplete(done -> over());
      count(problem.type().status());
    }
  }

  private void run(byte[] bytes) {
    MDC.put("correlationId", correlationId);
    thread = Thread.currentThread();
    try {
      answer(unlessRefused(handleListened(bytes)));
    } catch (ClientGone e) {
      log.debug("The client of {} has gone", routeName());
      count(499);
      over();
    } catch (Throwable e) {
      EndOnOutOfMemory.check(e);
      log.error("The answer to {} broke off", routeName(), e);
      onLoop(() -> request.connection().close());
      count(500);
      over();
    } finally {
      bodyBytes.close();
    }
  }

  private void answer(Response response) throws Exception {
    switch (response.body()) {
      case Response.Body.Bytes bytes -> deliver(response);
      case Response.Body.Streamed stream -> {
        if (progress.move(Phase.SERVING, Phase.STREAMING, kernel.time().nanoTime())) {
          stream(response, stream.writer());
          count(response.status());
        } else {
          stream.writer().ended();
        }
        over();
      }
    }
  }

  private void stream(Response response, Response.StreamBody writer) throws Exception {
    try {
      out.stream(response, writer, this::onLoop);
    } finally {
      writer.ended();
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
    if (response.body() instanceof Response.Body.Streamed stream) {
      stream.writer().ended();
    }
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
      var response = route().handler().handle(call);
      call.requireReachWasAsked();
      return response;
    } catch (ClientGone e) {
      throw e;
    } catch (Throwable e) {
      EndOnOutOfMemory.check(e);
      if (progress.phase() == Phase.GIVEN_UP) {
        log.debug("{} ended after it was given up", routeName(), e);
        return Response.noContent();
      }
      return Response.of(ProblemOf.failure(e, routeName()), correlationId);
    }
  }

  private void deliver(Response response) {
    if (!enterAnswering(Phase.SERVING)) {
      // The caller was told that the request took too long, and cannot know of this answer. This
      // thread may be interrupted at any moment, which would break what is given back.
      kernel.startThread(() -> response.undeliveredTasks().forEach(Runnable::run));
      over();
      return;
    }
    var fitting = fitted(response);
    if (fitting.undeliveredTasks().isEmpty()) {
      count(fitting.status());
      onLoop(() -> write(fitting));
    } else if (out.writeAndWait(fitting, this::onLoop)) {
      count(fitting.status());
      over();
    } else {
      fitting.undeliveredTasks().forEach(Runnable::run);
      throw new ClientGone();
    }
  }

  /** The answer, or that there is no memory for it now. */
  private Response fitted(Response response) {
    if (answerBytes.resizeTo(response.size())) {
      return response;
    }
    response.undeliveredTasks().forEach(Runnable::run);
    return Response.of(ProblemOf.tooManyAnswers(), correlationId);
  }

  private boolean enterAnswering(Phase from) {
    return progress.move(
        from, Phase.ANSWERING, kernel.time().nanoTime(), kernel.options().requestTimeout());
  }

  private void write(Response response) {
    out.write(response, false).onComplete(done -> over());
  }

  private void onLoop(Runnable task) {
    context.runOnContext(ignored -> task.run());
  }

  private void clientGone() {
    waiting.clientGone();
    if (body != null && body.abandon()) {
      count(499);
      over();
    }
  }

  /** The connection failed, or what came over it was no HTTP any more. */
  private void brokeOff(Throwable cause) {
    EndOnOutOfMemory.check(cause);
    log.debug("{} broke off: {}", routeName(), cause.toString());
    clientGone();
  }

  /** Tells once what became of the request; it may still be written. */
  private void count(int status) {
    if (counted.compareAndSet(false, true)) {
      kernel.ended(this);
      if (status == ProblemType.UNAUTHENTICATED.status()
          || status == ProblemType.FORBIDDEN.status()) {
        kernel.listener().refused(actor(), routeName(), status);
      }
      kernel.listener().answered(routeName(), status, kernel.time().since(startedNanos));
    }
  }

  /** Nothing of the answer is left here. */
  private void over() {
    answerBytes.close();
    kernel.over(this);
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
