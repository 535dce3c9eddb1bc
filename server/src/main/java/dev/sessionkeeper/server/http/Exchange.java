package dev.sessionkeeper.server.http;

import dev.sessionkeeper.server.http.Progress.Phase;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * One request from its head to its answer.
 *
 * <p>Threading: the event loop judges the head, reads the body and writes the answer; the handler
 * runs on a virtual thread of its own. I1: a request is answered once, or its client has gone. I2:
 * the memory of its body is released when its handler has ended, or when none will run; the memory
 * of its answer when the socket has taken the bytes or is gone.
 */
final class Exchange {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);

  /**
   * How long the connection stays open for a client that is still sending, so that it can read its
   * refusal.
   */
  private static final Duration LINGER = Duration.ofSeconds(2);

  private final Kernel kernel;
  private final Context context;
  private final HttpServerRequest request;
  private final RequestHead head;
  private final long startedNanos;
  private final Waiting waiting = new Waiting();
  private final Progress progress;
  private final MemoryBudget.Share bodyBytes;
  private final MemoryBudget.Share answerBytes;
  private final WriteResponse out;
  private final AtomicBoolean counted = new AtomicBoolean();
  private @Nullable ReadBody body;
  private volatile @Nullable Thread thread;
  private volatile boolean isStreaming;

  Exchange(Kernel kernel, Context context, HttpServerRequest request) {
    this.kernel = kernel;
    this.context = context;
    this.request = request;
    this.startedNanos = kernel.time().nanoTime();
    this.progress = new Progress(startedNanos, kernel.options().requestTimeout());
    this.bodyBytes = kernel.requests().open();
    this.answerBytes = kernel.answers().open();
    this.head = new RequestHead(kernel, request);
    this.out = new WriteResponse(request, waiting, head.correlationId(), kernel::isLeaving);
  }

  /** Judges the head and begins to read the body. */
  void begin() {
    kernel.began(this);
    request.response().closeHandler(closed -> clientGone());
    request.exceptionHandler(this::brokeOff);
    var refusal = judge();
    var reading = new ReadBody(request, bodyBytes, head.bodyLimit(), new Then());
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
      // The client does not read its answer, and other requests need the memory.
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
    var problem = ProblemOf.late(head.method(), kernel.options().deadline(), head.routeName());
    write(head.refusal(problem));
    count(problem.type().status());
    var handling = thread;
    if (handling != null) {
      handling.interrupt();
    }
  }

  /** Ends the request's wait because the server shuts down. */
  void drain() {
    waiting.drain();
  }

  /** Ends the request's wait or stream if its caller may no longer call. Any thread may call it. */
  void readmit() {
    try {
      if (!head.readmit()) {
        // The caller's rights have changed. The client sends its request again and is served by the
        // new rights.
        drain();
      }
    } catch (ProblemException e) {
      refuse(e.problem());
    }
  }

  private void refuse(Problem problem) {
    log.info("{} of {} ends: {}", head.routeName(), head.caller().name(), problem.detail());
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

  /** Extends the handler's deadline. */
  void extendDeadline(Duration longer) {
    progress.extend(longer);
  }

  /** Reserves memory as {@link Request#reserve} does. */
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

  RequestHead head() {
    return head;
  }

  private Optional<Problem> judge() {
    try {
      head.judge();
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(ProblemOf.failure(e, head.routeName()));
    }
  }

  /** Continues when the body has been read or skipped. */
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
      var response = head.refusal(problem);
      var written =
          switch (ending) {
            case KEEP -> out.write(response, false);
            case LINGER -> out.writeAndLinger(response, close -> kernel.after(LINGER, close));
            case CLOSE -> out.writeAndLinger(response, Runnable::run);
          };
      written.onComplete(done -> over());
      count(response.status());
    }
  }

  private void run(byte[] bytes) {
    MDC.put("correlationId", head.correlationId());
    thread = Thread.currentThread();
    try {
      answer(unlessRefused(handleListened(bytes)));
    } catch (ClientGone e) {
      log.debug("The client of {} has gone", head.routeName());
      count(499);
      over();
    } catch (Throwable e) {
      EndOnOutOfMemory.check(e);
      log.error("The answer to {} broke off", head.routeName(), e);
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
    try (var memory = kernel.streams().open()) {
      out.stream(response, writer, this::onLoop, memory);
    } finally {
      writer.ended();
    }
  }

  /** Releases the result of a wait if the caller's rights were revoked meanwhile. */
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
    return head.refusal(refusal.get());
  }

  private Response handleListened(byte[] body) {
    var handling = kernel.listener().handling(head.routeName(), head::header);
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
      var call = new Request(this, head.caller(), head.matched(), head.query(), body);
      if (head.route().docs().request().isEmpty()) {
        call.requireNoFields();
      }
      var response = head.route().handler().handle(call);
      call.requireReachWasAsked();
      return response;
    } catch (ClientGone e) {
      throw e;
    } catch (Throwable e) {
      EndOnOutOfMemory.check(e);
      if (progress.phase() == Phase.GIVEN_UP) {
        log.debug("{} ended after it was given up", head.routeName(), e);
        return Response.noContent();
      }
      return head.refusal(ProblemOf.failure(e, head.routeName()));
    }
  }

  private void deliver(Response response) {
    if (!enterAnswering(Phase.SERVING)) {
      // The client was told that the request took too long, so it does not know this answer. The
      // release runs on a new thread, because this one may be interrupted.
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

  /** Returns the answer, or a refusal if there is no memory for the answer now. */
  private Response fitted(Response response) {
    if (answerBytes.resizeTo(response.size())) {
      return response;
    }
    response.undeliveredTasks().forEach(Runnable::run);
    return Response.of(ProblemOf.tooManyAnswers(), head.correlationId());
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

  /** Handles a failed connection, or bytes that are no HTTP. */
  private void brokeOff(Throwable cause) {
    EndOnOutOfMemory.check(cause);
    log.debug("{} broke off: {}", head.routeName(), cause.toString());
    clientGone();
  }

  /**
   * Reports the outcome of the request to the listener, once; its answer may still be on its way.
   */
  private void count(int status) {
    if (counted.compareAndSet(false, true)) {
      kernel.ended(this);
      if (status == ProblemType.UNAUTHENTICATED.status()
          || status == ProblemType.FORBIDDEN.status()) {
        kernel.listener().refused(head.actor(), head.routeName(), status);
      }
      kernel.listener().answered(head.routeName(), status, kernel.time().since(startedNanos));
    }
  }

  /** Forgets the request: no byte of its answer is in this server's memory any more. */
  private void over() {
    answerBytes.close();
    kernel.over(this);
  }
}
