package dev.sessionkeeper.server.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each status has its own sentence. */
class WhyBlockedTest {
  private static final Instant NOW = Instant.parse("2026-11-18T12:03:00Z");
  private static final QueueSettings SETTINGS =
      QueueSettings.ordered().withMaxDeliveryCount(5).withPoisonPolicy(PoisonPolicy.PARK_SESSION);
  private static final Optional<Attempt> FAILED =
      Optional.of(
          new Attempt(
              42,
              5,
              true,
              Optional.of(91L),
              Optional.of("bot-7"),
              NOW.minusSeconds(30),
              "NullPointerException\n\tat Handler.java:17"));

  private static String why(
      SessionStatus status, int backlog, int attempts, String reason, Optional<Attempt> last) {
    var view =
        new SessionView(
            SessionId.of("cust-42"),
            status,
            backlog,
            Duration.ofSeconds(90),
            status == SessionStatus.HELD ? Optional.of(Owner.of("bot-7")) : Optional.empty(),
            91,
            status == SessionStatus.HELD ? Optional.of(NOW.plusSeconds(20)) : Optional.empty(),
            attempts,
            Optional.of(reason).filter(text -> !text.isEmpty()),
            Optional.empty());
    return WhyBlocked.explain(new WhyBlocked.Known(Optional.of(view), SETTINGS, last, false, NOW));
  }

  @Test
  void aParkedSessionNamesTheAttemptTheMessageAndTheOwner() {
    assertThat(why(SessionStatus.PARKED, 13, 5, "max delivery count reached: NPE", FAILED))
        .isEqualTo(
            "Attempt 5 of 5 of message 42 failed 30 s ago on bot-7 (epoch 91):"
                + " NullPointerException. It stays parked until a person resumes it."
                + " 12 messages wait behind it.");
  }

  @Test
  void aParkedSessionWhoseFirstMessageWasRepairedDoesNotNameTheOldError() {
    assertThat(why(SessionStatus.PARKED, 3, 0, "max delivery count reached: NPE", FAILED))
        .isEqualTo(
            "A message failed too often, so it was parked; the message that is first now has not"
                + " been tried. It stays parked until a person resumes it."
                + " 2 messages wait behind it.");
  }

  @Test
  void aSessionThatAPersonParkedOrPausedNamesTheReason() {
    assertThat(why(SessionStatus.PARKED, 1, 0, "bad data", Optional.empty()))
        .startsWith("It was parked: “bad data”.")
        .endsWith("No message waits behind it.");
    assertThat(why(SessionStatus.PAUSED, 2, 0, "customer asked", FAILED))
        .startsWith("A person paused it: “customer asked”.")
        .endsWith("1 message waits behind it.");
  }

  @Test
  void aWaitingSessionTellsARetryFromAnEarliestTime() {
    assertThat(why(SessionStatus.WAITING, 3, 2, "", FAILED)).contains("It waits for its retry.");
    assertThat(why(SessionStatus.WAITING, 3, 0, "", Optional.empty()))
        .startsWith("Its first message must not be handled before its earliest time.");
  }

  @Test
  void aHeldSessionNamesOwnerAttemptAndLease() {
    assertThat(why(SessionStatus.HELD, 1, 2, "", Optional.empty()))
        .isEqualTo(
            "bot-7 works on attempt 2 of 5 of the first message; its lease ends in 20 s unless it"
                + " is renewed. No message waits behind it.");
  }

  @Test
  void aReadySessionWaitsForAConsumerAndAFinishedOneForNothing() {
    assertThat(why(SessionStatus.READY, 2, 0, "", Optional.empty()))
        .isEqualTo(
            "Nothing blocks it: it has waited for a free consumer for 1 min. 2 messages wait.");
    assertThat(
            WhyBlocked.explain(
                new WhyBlocked.Known(Optional.empty(), SETTINGS, Optional.empty(), false, NOW)))
        .contains("finished, or was never used");
  }
}
