package dev.sessionkeeper.benchmarks.faults;

import static dev.sessionkeeper.benchmarks.faults.Planted.A;
import static dev.sessionkeeper.benchmarks.faults.Planted.B;
import static dev.sessionkeeper.benchmarks.faults.Planted.history;
import static dev.sessionkeeper.benchmarks.faults.Planted.transactional;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Every checker gets a history with the fault that it must find, and one without. */
class CheckersTest {
  private static final Duration PAST_THE_LEASE = Duration.ofSeconds(6);

  private static void assertGreen(Planted planted) {
    assertThat(Verdict.of(planted.end()).violations()).isEmpty();
  }

  private static void assertRed(Checker checker, Planted planted, String what) {
    assertThat(checker.check(planted.end()))
        .as(checker.promise())
        .isNotEmpty()
        .allSatisfy(violation -> assertThat(violation.what()).contains(what));
  }

  @Nested
  class Green {
    @Test
    void messagesAreCompletedOneAfterTheOtherByTwoOwners() {
      assertGreen(
          history()
              .sent(1, 2)
              .taken(A, 1)
              .completed(A, 1, 1)
              .closing(A, 1)
              .taken(B, 2)
              .completed(B, 2, 2)
              .counted(0));
    }

    @Test
    void anOwnerThatIsKilledInTheMiddleIsFollowedAfterItsLease() {
      assertGreen(
          history()
              .sent(1, 2)
              .taken(A, 1)
              .handed(A, 1, 1, 1)
              .began(A, 1, 1)
              .fault(Kind.KILLED, A)
              .pass(PAST_THE_LEASE)
              .taken(B, 2)
              .handed(B, 2, 1, 2)
              .began(B, 2, 1)
              .ended(B, 2, 1, Outcome.COMPLETE)
              .settling(B, 2, 1)
              .settled(B, 2, 1)
              .completed(B, 2, 2));
    }

    @Test
    void aFrozenOwnerIsRefusedWhenItGoesOn() {
      assertGreen(
          history()
              .sent(1)
              .taken(A, 1)
              .handed(A, 1, 1, 1)
              .fault(Kind.FROZEN, A)
              .pass(PAST_THE_LEASE)
              .taken(B, 2)
              .handed(B, 2, 1, 1)
              .began(B, 2, 1)
              .ended(B, 2, 1, Outcome.COMPLETE)
              .settling(B, 2, 1)
              .settled(B, 2, 1)
              .fault(Kind.THAWED, A)
              .began(A, 1, 1)
              .ended(A, 1, 1, Outcome.COMPLETE)
              .settling(A, 1, 1)
              .refused(A, 1, 1, "LockLost"));
    }

    @Test
    void aDeadLetterComesBackBehindNewerMessages() {
      assertGreen(
          history()
              .sent(1, 2)
              .taken(A, 1)
              .handed(A, 1, 1, 1)
              .acting("DEAD_LETTER_HEAD")
              .taken(B, 2)
              .completed(B, 2, 2)
              .closing(B, 2)
              .replaying()
              .taken(B, 3)
              .completed(B, 3, 1));
    }

    @Test
    void aConfirmationThatIsWrittenLateByAFrozenProcessIsNoSecondOne() {
      assertGreen(
          history()
              .sent(1, 2)
              .taken(A, 1)
              .handed(A, 1, 1, 1)
              .began(A, 1, 1)
              .ended(A, 1, 1, Outcome.COMPLETE)
              .settling(A, 1, 1)
              .fault(Kind.FROZEN, A)
              .pass(PAST_THE_LEASE)
              .taken(B, 2)
              .completed(B, 2, 2)
              .fault(Kind.THAWED, A)
              .settled(A, 1, 1));
    }
  }

  @Nested
  class Order {
    private final Checker checker = new CheckSessionOrder();

    @Test
    void aMessageOvertakesAnother() {
      assertRed(
          checker, history().sent(1, 2).taken(A, 1).completed(A, 1, 2).completed(A, 1, 1), "began");
    }

    @Test
    void aMessageIsHandledWhileTheOneBeforeIsToBeTriedAgain() {
      assertRed(
          checker,
          history()
              .sent(1, 2)
              .taken(A, 1)
              .handed(A, 1, 1, 1)
              .began(A, 1, 1)
              .ended(A, 1, 1, Outcome.RETRY)
              .completed(A, 1, 2),
          "began before message 1 had ended");
    }

    @Test
    void aMessageBeginsAgainBehindOneThatWasCompleted() {
      assertRed(
          checker,
          history()
              .sent(1, 2)
              .taken(A, 1)
              .completed(A, 1, 1)
              .completed(A, 1, 2)
              .closing(A, 1)
              .taken(B, 2)
              .began(B, 2, 1),
          "began after message 2 was completed");
    }

    @Test
    void aHoldGoesBackwards() {
      assertRed(
          checker,
          history()
              .sent(1, 2)
              .taken(A, 1)
              .began(A, 1, 1)
              .ended(A, 1, 1, Outcome.COMPLETE)
              .began(A, 1, 2)
              .ended(A, 1, 2, Outcome.COMPLETE)
              .began(A, 1, 1),
          "of the same hold");
    }
  }

  @Nested
  class Owners {
    private final Checker checker = new CheckEpochs();

    @Test
    void anEpochIsHandedOutTwice() {
      assertRed(checker, history().taken(A, 3).taken(B, 3), "twice");
    }

    @Test
    void anEpochIsLowerThanTheOneBefore() {
      assertRed(checker, history().taken(A, 3).taken(B, 2), "epoch 3");
    }

    @Test
    void anAcceptThatBeganBeforeMayBeWrittenDownLater() {
      assertThat(checker.check(history().accepting(A, 2).taken(B, 3).took(A, 2).end())).isEmpty();
    }

    @Test
    void anOldOwnerCompletesAfterANewerHandOut() {
      assertRed(
          checker,
          history().sent(1).taken(A, 1).taken(B, 2).settling(A, 1, 1).settled(A, 1, 1),
          "confirmed although epoch 2");
    }

    @Test
    void twoHandlersAreInsideUnderOneLease() {
      assertRed(checker, history().taken(A, 1).began(A, 1, 1).began(A, 1, 2), "two handlers");
    }
  }

  @Nested
  class Leases {
    private final Checker checker = new CheckLeases();

    @Test
    void aSessionIsTakenBeforeTheEndOfALease() {
      assertRed(
          checker,
          history().taken(A, 1).fault(Kind.KILLED, A).pass(Duration.ofSeconds(1)).taken(B, 2),
          "before the end of the lease of epoch 1");
    }

    @Test
    void whoGaveTheSessionBackHasNoLease() {
      assertThat(checker.check(history().taken(A, 1).closing(A, 1).taken(B, 2).end())).isEmpty();
    }

    @Test
    void aPersonOrACrashMayTakeItAway() {
      assertThat(checker.check(history().taken(A, 1).acting("RELEASE").taken(B, 2).end()))
          .isEmpty();
      assertThat(checker.check(history().taken(A, 1).fault(Kind.CRASHING, "").taken(B, 2).end()))
          .isEmpty();
    }

    @Test
    void anActThatIsOnItsWayMayTakeItAwayAndNoLaterOne() {
      assertThat(
              checker.check(
                  history().acting("RELEASE").taken(A, 1).acted("RELEASE").taken(B, 2).end()))
          .isEmpty();
      assertRed(
          checker,
          history().acting("RELEASE").acted("RELEASE").taken(A, 1).taken(B, 2),
          "before the end of the lease of epoch 1");
    }

    @Test
    void aHandlerBeginsLongAfterItsLease() {
      assertRed(
          checker,
          history()
              .taken(A, 1)
              .pass(PAST_THE_LEASE)
              .taken(B, 2)
              .pass(PAST_THE_LEASE)
              .began(A, 1, 1),
          "after its lease");
    }
  }

  @Nested
  class Loss {
    private final Checker checker = new CheckLoss();

    @Test
    void anAcknowledgedMessageIsNeverHandled() {
      assertRed(checker, history().sent(1, 2).taken(A, 1).completed(A, 1, 1), "message 2");
    }

    @Test
    void theOnlyCompletionWasRefused() {
      assertRed(
          checker,
          history()
              .sent(1)
              .taken(A, 1)
              .began(A, 1, 1)
              .ended(A, 1, 1, Outcome.COMPLETE)
              .settling(A, 1, 1)
              .refused(A, 1, 1, "LockLost"),
          "message 1");
    }

    @Test
    void aSessionStaysWithMessages() {
      assertRed(checker, history().stranded(7), "7 messages stay");
    }
  }

  @Nested
  class Refusals {
    private final Checker checker = new CheckRefusals();

    private Planted refusedAroundACrash() {
      return history()
          .sent(1)
          .taken(A, 1)
          .began(A, 1, 1)
          .ended(A, 1, 1, Outcome.COMPLETE)
          .settling(A, 1, 1)
          .fault(Kind.CRASHING, "")
          .refused(A, 1, 1, "LockLost");
    }

    @Test
    void aSettlementTakesEffectAndIsRefused() {
      assertRed(checker, refusedAroundACrash(), "the message is gone");
    }

    @Test
    void aCrashOnTheWayMakesItNoLoss() {
      assertThat(new CheckLoss().check(refusedAroundACrash().end())).isEmpty();
    }

    @Test
    void aMessageThatComesAgainWasRefusedRightly() {
      assertThat(checker.check(refusedAroundACrash().taken(B, 2).completed(B, 2, 1).end()))
          .isEmpty();
    }
  }

  @Nested
  class Duplicates {
    private final Checker checker = new CheckDuplicates();

    @Test
    void aCompletedMessageComesToTheNextOwner() {
      assertRed(
          checker,
          history().sent(1).taken(A, 1).completed(A, 1, 1).taken(B, 2).handed(B, 2, 1, 2),
          "although confirmed");
    }

    @Test
    void aFrozenOwnerCompletesWhatTheNextOwnerHas() {
      assertRed(
          checker,
          history()
              .sent(1)
              .taken(A, 1)
              .handed(A, 1, 1, 1)
              .settling(A, 1, 1)
              .pass(PAST_THE_LEASE)
              .taken(B, 2)
              .handed(B, 2, 1, 2)
              .settled(A, 1, 1),
          "although confirmed");
    }

    @Test
    void aCompletedMessageComesAgainInItsHold() {
      assertRed(
          checker,
          history().sent(1).taken(A, 1).completed(A, 1, 1).handed(A, 1, 1, 1),
          "in the hold that had completed it");
    }

    @Test
    void twoOwnersCompleteOneMessage() {
      assertRed(
          checker,
          history().sent(1).taken(A, 1).settled(A, 1, 1).taken(B, 2).settled(B, 2, 1),
          "was completed in");
    }

    @Test
    void oneSendIsStoredTwice() {
      assertRed(
          checker,
          history().sent(1).taken(A, 1).handedAs("s1", A, 1, 1).handedAs("s9", A, 1, 1),
          "was stored as s1 and as s9");
    }
  }

  @Nested
  class Attempts {
    private final Checker checker = new CheckAttempts();

    @Test
    void anAttemptIsCountedThatNobodyGot() {
      assertRed(checker, history().sent(1).taken(A, 1).handed(A, 1, 1, 2), "as attempt 1");
    }

    @Test
    void aDeadLetterHasAttemptsThatNobodyGot() {
      assertRed(checker, history().sent(1).taken(A, 1).handed(A, 1, 1, 1).dead(1, 3), "as attempt");
    }

    @Test
    void aKillExplainsOneHandOutThatWasNotWrittenDown() {
      assertThat(
              checker.check(
                  history().sent(1).fault(Kind.KILLED, A).taken(B, 1).handed(B, 1, 1, 2).end()))
          .isEmpty();
    }

    @Test
    void aKillBeforeTheSendExplainsNothing() {
      assertRed(
          checker,
          history().fault(Kind.KILLED, A).sent(1).taken(B, 1).handed(B, 1, 1, 2),
          "as attempt 1");
    }

    @Test
    void aKillDoesNotExplainTwoAttempts() {
      assertRed(
          checker,
          history().sent(1).fault(Kind.KILLED, A).taken(B, 1).handed(B, 1, 1, 3),
          "as attempt 2");
    }
  }

  @Nested
  class DeadLetters {
    private final Checker checker = new CheckDeadLetters();

    @Test
    void aMessageDiesThatNobodyGot() {
      assertRed(checker, history().sent(1).dead(1, 5), "for no visible reason");
    }

    @Test
    void aMessageIsCompletedAndDead() {
      assertRed(
          checker,
          history().sent(1).taken(A, 1).completed(A, 1, 1).acting("DEAD_LETTER_ALL").dead(1, 1),
          "dead letter and completed");
    }

    @Test
    void aMessageIsDeadTwice() {
      assertRed(
          checker, history().sent(1).acting("DEAD_LETTER_ALL").dead(1, 1).dead(1, 1), "2 times");
    }

    @Test
    void aHandlerOrAPersonMayChooseIt() {
      assertThat(
              checker.check(history().sent(1).ended(A, 1, 1, Outcome.DEAD_LETTER).dead(1, 1).end()))
          .isEmpty();
      assertThat(checker.check(history().sent(1).acting("DEAD_LETTER_HEAD").dead(1, 0).end()))
          .isEmpty();
    }
  }

  @Nested
  class Effects {
    private final Checker checker = new CheckEffects();

    @Test
    void anEffectHappensTwice() {
      assertRed(checker, transactional().sent(1).effect(1, 1).effect(2, 1), "two effects");
    }

    @Test
    void anEffectIsMissing() {
      assertRed(checker, transactional().sent(1, 2).effect(1, 1), "message 2 has no effect");
    }

    @Test
    void effectsAreOutOfOrder() {
      assertRed(checker, transactional().sent(1, 2).effect(1, 2).effect(1, 1), "follows that of 2");
    }

    @Test
    void anOldEpochHasAnEffectAfterANewerOne() {
      assertRed(checker, transactional().sent(1, 2).effect(2, 1).effect(1, 2), "epoch 1");
    }

    @Test
    void aMessageComesAgainAfterItsEffect() {
      assertRed(
          checker,
          transactional().sent(1).taken(A, 1).taken(B, 2).handed(B, 2, 1, 2).effect(1, 1),
          "came again");
    }
  }

  @Nested
  class Counts {
    @Test
    void theQueueCountsMessagesThatAreNotThere() {
      assertRed(new CheckCounts(), history().counted(3), "3 messages counted, 0 there");
    }
  }

  @Nested
  class Progress {
    private final Checker checker = new CheckProgress();
    private final Duration tooLong = CheckProgress.BOUND.plusSeconds(1);

    @Test
    void aMessageWaitsThoughItsOwnerLives() {
      assertRed(
          checker,
          history().sent(1).taken(A, 1).pass(tooLong).completed(A, 1, 1),
          "no delivery for 34");
    }

    @Test
    void aMessageWaitsForALeaseThatItsOwnerTookForLost() {
      assertRed(
          checker,
          history()
              .sent(1)
              .taken(A, 1)
              .completed(A, 1, 1)
              .closing(A, 1)
              .sent(2)
              .pass(tooLong)
              .taken(B, 2)
              .completed(B, 2, 2),
          "no delivery for 34");
    }

    @Test
    void aSessionWithoutMessagesMayRest() {
      assertGreen(
          history()
              .sent(1)
              .taken(A, 1)
              .completed(A, 1, 1)
              .pass(tooLong)
              .sent(2)
              .completed(A, 1, 2));
    }

    @Test
    void aPausedSessionMayRest() {
      assertGreen(
          history()
              .sent(1)
              .acting("PAUSE")
              .acted("PAUSE")
              .pass(tooLong)
              .acting("RESUME")
              .acted("RESUME")
              .taken(A, 1)
              .completed(A, 1, 1));
    }

    @Test
    void aCrashedDatabaseDeliversNothing() {
      assertGreen(
          history()
              .sent(1)
              .fault(Kind.CRASHING, "")
              .pass(tooLong)
              .fault(Kind.RECOVERED, "")
              .taken(A, 1)
              .completed(A, 1, 1));
    }

    @Test
    void aLeaseOfAKilledOwnerRunsOut() {
      assertGreen(
          history()
              .sent(1)
              .taken(A, 1)
              .fault(Kind.KILLED, A)
              .pass(CheckProgress.BOUND.plusSeconds(4))
              .taken(B, 2)
              .completed(B, 2, 1));
    }

    @Test
    void aProcessThatDiesAMomentLaterMayHaveTakenTheSession() {
      assertGreen(
          history()
              .sent(1)
              .taken(A, 1)
              .completed(A, 1, 1)
              .closing(A, 1)
              .sent(2)
              .fault(Kind.KILLED, B)
              .pass(CheckProgress.BOUND.plusSeconds(4))
              .taken(A, 2)
              .completed(A, 2, 2));
    }

    @Test
    void aKilledOwnerIsNoReasonBehindItsLease() {
      assertRed(
          checker,
          history()
              .sent(1)
              .taken(A, 1)
              .fault(Kind.KILLED, A)
              .pass(CheckProgress.BOUND.plusSeconds(7))
              .taken(B, 2)
              .completed(B, 2, 1),
          "no delivery for 35");
    }
  }
}
