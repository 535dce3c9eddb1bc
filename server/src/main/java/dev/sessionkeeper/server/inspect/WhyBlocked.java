package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.SessionView;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Explains in one or two sentences why a session does not move, or that it does. */
final class WhyBlocked {
  private WhyBlocked() {}

  /**
   * The known facts about a session.
   *
   * @param view empty for a session without messages, owner and reason to be set aside
   * @param last the newest failed attempt
   * @param isReadAlone whether a reader holds the queue's sessions in its memory
   */
  record Known(
      Optional<SessionView> view,
      QueueSettings settings,
      Optional<Attempt> last,
      boolean isReadAlone,
      Instant now) {}

  static String explain(Known known) {
    if (known.view().isEmpty()) {
      return "The session has no messages and no owner: it is finished, or was never used.";
    }
    var view = known.view().get();
    return switch (view.status()) {
      case READY -> ready(view, known);
      case HELD -> held(view, known);
      case WAITING -> waiting(view, known);
      case PARKED -> parked(view, known);
      case PAUSED -> paused(view);
    };
  }

  private static String ready(SessionView view, Known known) {
    if (known.isReadAlone() && view.epoch() == 0) {
      return "It moves: the consumer that reads this session handles it from its memory. "
          + count(view.backlog(), "message waits.", "messages wait.");
    }
    return "Nothing blocks it: it has waited for a free consumer for "
        + duration(view.headAge())
        + ". "
        + count(view.backlog(), "message waits.", "messages wait.");
  }

  private static String held(SessionView view, Known known) {
    var owner = view.owner().map(Owner::name).orElse("a consumer");
    var until = view.lockedUntil().map(at -> Duration.between(known.now(), at));
    var lease =
        until
            .map(
                left ->
                    left.isNegative()
                        ? "; its lease has expired and is about to end"
                        : "; its lease ends in " + duration(left) + " unless it is renewed")
            .orElse("");
    var attempt =
        view.attempts() > 0
            ? " works on attempt "
                + view.attempts()
                + " of "
                + known.settings().maxDeliveryCount()
                + " of the first message"
            : " holds it";
    return owner + attempt + lease + ". " + behind(view);
  }

  private static String waiting(SessionView view, Known known) {
    if (known.last().isEmpty() || view.attempts() == 0) {
      return "Its first message must not be handled before its earliest time. " + behind(view);
    }
    return failed(known.last().get(), known) + " It waits for its retry. " + behind(view);
  }

  private static String parked(SessionView view, Known known) {
    var reason = view.blockedReason().orElse("");
    boolean isUsedUp = reason.startsWith(PoisonPolicy.USED_UP);
    String why;
    if (isUsedUp && view.attempts() == 0) {
      why =
          "A message failed too often, so it was parked; the message that is first now has not been"
              + " tried.";
    } else if (isUsedUp && known.last().isPresent()) {
      why = failed(known.last().get(), known);
    } else {
      why = "It was parked" + because(reason) + ".";
    }
    return why + " It stays parked until a person resumes it. " + behind(view);
  }

  private static String paused(SessionView view) {
    return "A person paused it"
        + because(view.blockedReason().orElse(""))
        + ". It stays paused until a person resumes it. "
        + behind(view);
  }

  private static String failed(Attempt attempt, Known known) {
    var where =
        attempt.owner().map(name -> " on " + name).orElse("")
            + attempt.epoch().map(epoch -> " (epoch " + epoch + ")").orElse("");
    var error = firstLine(attempt.error());
    return "Attempt "
        + attempt.attempt()
        + " of "
        + known.settings().maxDeliveryCount()
        + " of message "
        + attempt.sequence()
        + " failed "
        + duration(Duration.between(attempt.at(), known.now()))
        + " ago"
        + where
        + (error.isEmpty() ? "." : ": " + error + (error.endsWith(".") ? "" : "."));
  }

  private static String because(String reason) {
    return reason.isBlank() ? "" : ": “" + firstLine(reason) + "”";
  }

  private static String behind(SessionView view) {
    long behind = Math.max(0, view.backlog() - 1);
    if (view.backlog() == 0) {
      return "No message waits.";
    }
    return behind == 0
        ? "No message waits behind it."
        : count(behind, "message waits behind it.", "messages wait behind it.");
  }

  private static String count(long count, String one, String many) {
    return count == 1 ? "1 " + one : count + " " + many;
  }

  private static String firstLine(String text) {
    var line = text.lines().findFirst().orElse("").strip();
    return line.length() > 200 ? line.substring(0, 199) + "…" : line;
  }

  private static String duration(Duration duration) {
    long seconds = Math.max(0, duration.toSeconds());
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 7200) {
      return seconds / 60 + " min";
    }
    return seconds < 172_800 ? seconds / 3600 + " h" : seconds / 86_400 + " d";
  }
}
