package dev.sessionkeeper.memory;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Planted bugs of sending. */
final class SendingBugs {
  private SendingBugs() {}

  static List<PlantedBug> all() {
    return List.of(
        new PlantedBug("Q-01", "a batch is stored backwards", BackwardsBatch::new),
        new PlantedBug("Q-02", "every third message is lost", LosesSome::new),
        new PlantedBug("Q-02", "claims to be durable", ClaimsDurability::new),
        new PlantedBug("Q-02", "forgets what kind of body it was", ForgetsTheForm::new),
        new PlantedBug("Q-03", "a duplicate is stored again", StoresTwice::new),
        new PlantedBug("Q-03", "duplicates are found by body", ComparesBodies::new),
        new PlantedBug("Q-03a", "ids are remembered for a week", RemembersForAWeek::new),
        new PlantedBug("Q-04", "a batch is stored one by one", OneByOne::new),
        new PlantedBug("Q-05", "a message without session gets one", MakesUpSessions::new),
        new PlantedBug("Q-05", "a queue changes its mode", ChangesMode::new),
        new PlantedBug("Q-06", "a large body is cut", CutsBodies::new),
        new PlantedBug("Q-06", "the error names no limit", NamesNoLimit::new),
        new PlantedBug("Q-07", "an old message is dropped", DropsTheOld::new));
  }

  private static final class BackwardsBatch extends Breakable {
    BackwardsBatch(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      return inner.send(queue, messages.reversed()).reversed();
    }
  }

  private static final class LosesSome extends Breakable {
    private int count;

    LosesSome(TimeSource time) {
      super(time);
    }

    @Override
    public synchronized List<SendOutcome> send(QueueName queue, List<Message> messages) {
      var outcomes = new ArrayList<SendOutcome>();
      for (var message : messages) {
        outcomes.addAll(
            ++count % 3 == 0
                ? List.of(new SendOutcome.Stored(message.id(), 1_000_000 + count))
                : inner.send(queue, List.of(message)));
      }
      return outcomes;
    }
  }

  private static final class RemembersForAWeek extends Breakable {
    RemembersForAWeek(TimeSource time) {
      super(time);
    }

    @Override
    public boolean declare(QueueName queue, QueueSettings settings) {
      return super.declare(queue, settings.withDuplicateWindow(Duration.ofDays(7)));
    }
  }

  private static final class ClaimsDurability extends Breakable {
    ClaimsDurability(TimeSource time) {
      super(time);
    }

    @Override
    public Capabilities capabilities() {
      var honest = super.capabilities();
      return new Capabilities(
          honest.provider(), honest.limits(), true, true, true, honest.impossible());
    }
  }

  private static final class ForgetsTheForm extends Breakable {
    ForgetsTheForm(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      return inner.send(
          queue, messages.stream().map(m -> with(m, Payload.text(m.payload().asText()))).toList());
    }
  }

  private static final class StoresTwice extends Breakable {
    StoresTwice(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      var outcomes = inner.send(queue, messages);
      for (int i = 0; i < messages.size(); i++) {
        if (outcomes.get(i) instanceof SendOutcome.Duplicate) {
          inner.send(queue, List.of(messages.get(i).withId(MessageId.random())));
        }
      }
      return outcomes;
    }
  }

  private static final class ComparesBodies extends Breakable {
    ComparesBodies(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      return inner.send(
          queue,
          messages.stream()
              .map(m -> m.withId(MessageId.of("body-" + m.payload().hashCode())))
              .toList());
    }
  }

  private static final class OneByOne extends Breakable {
    OneByOne(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      return messages.stream().flatMap(m -> inner.send(queue, List.of(m)).stream()).toList();
    }
  }

  private static final class MakesUpSessions extends Breakable {
    MakesUpSessions(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      boolean ordered = settings(queue).filter(s -> s.mode() == QueueMode.ORDERED).isPresent();
      return inner.send(
          queue,
          messages.stream().map(m -> ordered && m.session().isEmpty() ? inSession(m) : m).toList());
    }

    private static Message inSession(Message m) {
      return new Message(
          m.id(),
          Optional.of(SessionId.unique()),
          m.payload(),
          m.properties(),
          m.ttl(),
          m.notBefore());
    }
  }

  private static final class ChangesMode extends Breakable {
    ChangesMode(TimeSource time) {
      super(time);
    }

    @Override
    public boolean declare(QueueName queue, QueueSettings settings) {
      try {
        return inner.declare(queue, settings);
      } catch (KeeperException.QueueConflict e) {
        return false;
      }
    }
  }

  private static final class CutsBodies extends Breakable {
    CutsBodies(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      int most = capabilities().limits().maxBodyBytes();
      return inner.send(
          queue,
          messages.stream()
              .map(m -> m.payload().size() > most ? with(m, Payload.text("cut")) : m)
              .toList());
    }
  }

  private static final class NamesNoLimit extends Breakable {
    NamesNoLimit(TimeSource time) {
      super(time);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      try {
        return inner.send(queue, messages);
      } catch (KeeperException.LimitExceeded e) {
        throw new KeeperException.Rejected("too large", e);
      }
    }
  }

  private static final class DropsTheOld extends Breakable {
    DropsTheOld(TimeSource time) {
      super(time);
    }

    @Override
    public Page<DeadLetter> deadLetters(
        QueueName queue, Optional<SessionId> session, Page.Request page) {
      for (var letter : super.deadLetters(queue, session, page).items()) {
        if (letter.reason().equals(SettleMessages.EXPIRED)) {
          discard(queue, letter.id());
        }
      }
      return super.deadLetters(queue, session, page);
    }
  }

  private static Message with(Message m, Payload payload) {
    return new Message(m.id(), m.session(), payload, m.properties(), m.ttl(), m.notBefore());
  }
}
