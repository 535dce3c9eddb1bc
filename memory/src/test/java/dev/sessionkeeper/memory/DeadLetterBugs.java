package dev.sessionkeeper.memory;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.time.TimeSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Planted bugs of dead letters and operators' acts: D-01 to D-03, O-01 to O-05. */
final class DeadLetterBugs {
  private DeadLetterBugs() {}

  static List<PlantedBug> all() {
    return List.of(
        HoldingBugs.session("D-01", "a dead letter is deleted", Deletes::new),
        new PlantedBug("D-01", "a dead letter loses its last error", LosesTheError::new),
        new PlantedBug("D-02", "replayed messages are appended", Appends::new),
        new PlantedBug("D-02a", "a replayed message is not marked", Appends::new),
        new PlantedBug("D-03", "a second replay puts back again", ReplaysTwice::new),
        new PlantedBug("D-03", "a dry run is none", ReplaysWhenAsked::new),
        new PlantedBug("O-01", "what is held counts as ready", CountsWrong::new),
        new PlantedBug("O-02", "a pause does not take the session away", Acts.without(Act.PAUSE)),
        new PlantedBug("O-03", "parking is forgotten", Acts.without(Act.PARK)),
        new PlantedBug("Q-07a", "messages grow old while they are set aside", AgesAside::new),
        new PlantedBug("O-04", "a release does nothing", Acts.without(Act.RELEASE)),
        new PlantedBug("O-05", "setting all aside sets one aside", OnlyTheHead::new));
  }

  private static final class Deletes extends BreakableSession {
    Deletes(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return super.settle(
          settlements.stream()
              .map(
                  one ->
                      one.settlement() instanceof Settlement.DeadLetter
                          ? new Settled(one.sequence(), Settlement.complete())
                          : one)
              .toList());
    }
  }

  private static final class LosesTheError extends Breakable {
    LosesTheError(TimeSource time) {
      super(time);
    }

    @Override
    public Page<DeadLetter> deadLetters(
        QueueName queue, Optional<SessionId> session, Page.Request page) {
      var whole = super.deadLetters(queue, session, page);
      return new Page<>(
          whole.items().stream().map(LosesTheError::withoutError).toList(), whole.next());
    }

    private static DeadLetter withoutError(DeadLetter l) {
      return new DeadLetter(
          l.id(),
          l.message(),
          l.sequence(),
          l.attempts(),
          l.reason(),
          "",
          l.enqueuedAt(),
          l.deadAt(),
          l.replays());
    }
  }

  private static class Appends extends Breakable {
    Appends(TimeSource time) {
      super(time);
    }

    @Override
    public int replay(QueueName queue, Selection selection) {
      int count = countReplayable(queue, selection);
      for (var letter : chosen(queue, selection)) {
        send(queue, List.of(letter.message().withId(MessageId.random())));
        discard(queue, letter.id());
      }
      return count;
    }

    final List<DeadLetter> chosen(QueueName queue, Selection selection) {
      return deadLetters(queue, Optional.empty(), Page.Request.first(100)).items().stream()
          .filter(
              letter ->
                  switch (selection) {
                    case Selection.All all -> true;
                    case Selection.OfSession one ->
                        letter.message().session().filter(one.session()::equals).isPresent();
                    case Selection.OfMessages some -> some.ids().contains(letter.message().id());
                  })
          .toList();
    }
  }

  private static final class ReplaysTwice extends Appends {
    ReplaysTwice(TimeSource time) {
      super(time);
    }

    @Override
    public int replay(QueueName queue, Selection selection) {
      for (var letter : chosen(queue, selection)) {
        send(queue, List.of(letter.message().withId(MessageId.random())));
      }
      return countReplayable(queue, selection);
    }
  }

  private static final class ReplaysWhenAsked extends Breakable {
    ReplaysWhenAsked(TimeSource time) {
      super(time);
    }

    @Override
    public int countReplayable(QueueName queue, Selection selection) {
      return inner.replay(queue, selection);
    }
  }

  private static final class CountsWrong extends Breakable {
    CountsWrong(TimeSource time) {
      super(time);
    }

    @Override
    public QueueStats stats(QueueName queue) {
      var stats = super.stats(queue);
      return new QueueStats(
          stats.depth(),
          stats.readySessions() + stats.heldSessions(),
          stats.heldSessions(),
          stats.deadLetters(),
          stats.oldestAge());
    }
  }

  private static final class Acts extends Breakable {
    private final Act broken;

    private Acts(TimeSource time, Act broken) {
      super(time);
      this.broken = broken;
    }

    static Function<TimeSource, QueueProvider> without(Act broken) {
      return time -> new Acts(time, broken);
    }

    @Override
    public int act(QueueName queue, SessionId session, Act act, String reason) {
      return act == broken ? 1 : super.act(queue, session, act, reason);
    }
  }

  private static final class AgesAside extends Breakable {
    AgesAside(TimeSource time) {
      super(time);
    }

    @Override
    public int act(QueueName queue, SessionId session, Act act, String reason) {
      if (act == Act.RESUME) {
        super.act(queue, session, Act.DEAD_LETTER_ALL, "expired");
      }
      return super.act(queue, session, act, reason);
    }
  }

  private static final class OnlyTheHead extends Breakable {
    OnlyTheHead(TimeSource time) {
      super(time);
    }

    @Override
    public int act(QueueName queue, SessionId session, Act act, String reason) {
      return super.act(
          queue, session, act == Act.DEAD_LETTER_ALL ? Act.DEAD_LETTER_HEAD : act, reason);
    }
  }
}
