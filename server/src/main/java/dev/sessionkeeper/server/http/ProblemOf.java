package dev.sessionkeeper.server.http;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.KeeperException.Closed;
import dev.sessionkeeper.KeeperException.InvalidCursor;
import dev.sessionkeeper.KeeperException.LimitExceeded;
import dev.sessionkeeper.KeeperException.LockLost;
import dev.sessionkeeper.KeeperException.Misconfigured;
import dev.sessionkeeper.KeeperException.NotSupported;
import dev.sessionkeeper.KeeperException.OutOfOrder;
import dev.sessionkeeper.KeeperException.OutcomeUnknown;
import dev.sessionkeeper.KeeperException.Overloaded;
import dev.sessionkeeper.KeeperException.QueueConflict;
import dev.sessionkeeper.KeeperException.Rejected;
import dev.sessionkeeper.KeeperException.SessionModeMismatch;
import dev.sessionkeeper.KeeperException.StaleState;
import dev.sessionkeeper.KeeperException.Unavailable;
import dev.sessionkeeper.KeeperException.UnknownQueue;
import dev.sessionkeeper.server.json.InvalidInput;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps a failure to a problem for the caller. The only class that knows both kinds. */
final class ProblemOf {
  private static final Logger log = LoggerFactory.getLogger(ProblemOf.class);
  private static final Duration SOON = Duration.ofSeconds(1);

  private ProblemOf() {}

  static Problem failure(Throwable failure, String route) {
    EndOnOutOfMemory.check(failure);
    return switch (failure) {
      case ProblemException e -> e.problem();
      case InvalidInput e -> Problem.invalid(e.errors());
      case KeeperException e -> keeper(e, route);
      case CompletionException e -> wrapped(e, route);
      case ExecutionException e -> wrapped(e, route);
      default -> unexpected(failure, route);
    };
  }

  /**
   * Returns the problem of a request that missed its deadline. A request that only reads can be
   * repeated; any other may still take effect.
   */
  static Problem late(String method, Duration deadline, String route) {
    log.warn("{} was given up after {}", route, deadline);
    var took = "The request was not answered in " + deadline.toSeconds() + " s and was given up. ";
    return method.equals("GET") || method.equals("HEAD")
        ? ProblemType.UNAVAILABLE
            .with(took + "It only reads, so nothing was changed; try again")
            .and("code", "SK-101")
            .retryAfter(SOON)
        : ProblemType.OUTCOME_UNKNOWN
            .with(
                took
                    + "The call may or may not have taken effect; check the effect before you repeat it")
            .and("code", "SK-103")
            .retryAfter(SOON);
  }

  /**
   * Returns the problem of an answer for which there is no memory beside those that clients have
   * not read yet.
   */
  static Problem tooManyAnswers() {
    return ProblemType.OVERLOADED
        .with(
            "The server has no memory left for answers; read answers sooner, or request less at once")
        .retryAfter(SOON);
  }

  private static Problem wrapped(Exception failure, String route) {
    var cause = failure.getCause();
    return cause == null ? unexpected(failure, route) : failure(cause, route);
  }

  private static Problem keeper(KeeperException failure, String route) {
    var problem =
        switch (failure) {
          case Unavailable e -> unavailable(ProblemType.UNAVAILABLE, e, route);
          case Closed e -> unavailable(ProblemType.UNAVAILABLE, e, route);
          case OutcomeUnknown e -> unavailable(ProblemType.OUTCOME_UNKNOWN, e, route);
          case Overloaded e -> ProblemType.OVERLOADED.with(text(e)).retryAfter(SOON);
          case LockLost e -> ProblemType.SESSION_LOCK_LOST.with(text(e));
          case OutOfOrder e -> ProblemType.OUT_OF_ORDER.with(text(e));
          case StaleState e -> ProblemType.STALE_STATE.with(text(e));
          case LimitExceeded e ->
              ProblemType.TOO_LARGE
                  .with(text(e))
                  .and("limit", e.limit())
                  .and("allowed", e.allowed())
                  .and("actual", e.actual());
          case SessionModeMismatch e -> ProblemType.SESSION_MODE_MISMATCH.with(text(e));
          case UnknownQueue e -> ProblemType.UNKNOWN_QUEUE.with(text(e));
          case QueueConflict e -> ProblemType.QUEUE_CONFLICT.with(text(e));
          case Rejected e -> ProblemType.REJECTED.with(text(e));
          case InvalidCursor e -> ProblemType.INVALID_CURSOR.with(text(e));
          case NotSupported e -> ProblemType.NOT_SUPPORTED.with(text(e));
          case Misconfigured e -> unexpected(e, route);
        };
    return problem.and("code", failure.code());
  }

  private static Problem unavailable(ProblemType type, KeeperException failure, String route) {
    log.warn("{} could not be served: {}", route, failure.getMessage());
    log.debug("The failure of {}", route, failure);
    return type.with(text(failure)).retryAfter(SOON);
  }

  private static Problem unexpected(Throwable failure, String route) {
    log.error("{} failed; the caller saw an internal error", route, failure);
    return ProblemType.INTERNAL_ERROR.with(
        "The request failed here; nothing is known to be wrong with it");
  }

  /** Returns the message without its code, which has a member of its own. */
  private static String text(KeeperException failure) {
    var message = String.valueOf(failure.getMessage());
    var prefix = "[" + failure.code() + "] ";
    return message.startsWith(prefix) ? message.substring(prefix.length()) : message;
  }
}
