package dev.sessionkeeper.memory;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The memory provider, to be broken in one place by a subclass. */
class Breakable
    implements QueueProvider,
        InspectableQueues,
        OperableSessions,
        DeadLetterQueues,
        RemovableQueues {
  final TimeSource time;
  final MemoryQueueProvider inner;

  Breakable(TimeSource time) {
    this.time = time;
    this.inner = MemoryQueueProvider.create(time);
  }

  /** Returns the session that an owner gets. */
  HeldSession held(QueueName queue, HeldSession session) {
    return session;
  }

  AcceptResult acceptNext(QueueName queue, Owner owner, Duration wait) throws InterruptedException {
    return wrapped(queue, inner.sessions(queue).acceptNext(owner, wait));
  }

  AcceptResult accept(QueueName queue, SessionId session, Owner owner, Duration wait)
      throws InterruptedException {
    return wrapped(queue, inner.sessions(queue).accept(session, owner, wait));
  }

  final AcceptResult wrapped(QueueName queue, AcceptResult result) {
    return result instanceof AcceptResult.Accepted accepted
        ? new AcceptResult.Accepted(held(queue, accepted.session()))
        : result;
  }

  /** Returns a handle of the session's present owner. */
  final Optional<HeldSession> asItsOwner(QueueName queue, SessionId session) {
    return inner
        .inspect(queue, Optional.of(SessionStatus.HELD), Page.Request.first(100))
        .items()
        .stream()
        .filter(view -> view.id().equals(session))
        .findFirst()
        .flatMap(view -> inner.sessions(queue).resume(session, view.epoch()));
  }

  @Override
  public Capabilities capabilities() {
    return inner.capabilities();
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    return inner.declare(queue, settings);
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    return inner.settings(queue);
  }

  @Override
  public List<QueueName> queues() {
    return inner.queues();
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    return inner.send(queue, messages);
  }

  @Override
  public ResumableSessions sessions(QueueName queue) {
    var sessions = inner.sessions(queue);
    return new ResumableSessions() {
      @Override
      public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
        return Breakable.this.acceptNext(queue, owner, wait);
      }

      @Override
      public AcceptResult accept(SessionId session, Owner owner, Duration wait)
          throws InterruptedException {
        return Breakable.this.accept(queue, session, owner, wait);
      }

      @Override
      public Optional<HeldSession> resume(SessionId session, long epoch) {
        return sessions.resume(session, epoch).map(held -> held(queue, held));
      }

      @Override
      public HeldSession handle(SessionId session, long epoch) {
        return held(queue, sessions.handle(session, epoch));
      }

      @Override
      public boolean hasReadySession() {
        return sessions.hasReadySession();
      }
    };
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return inner.messages(queue);
  }

  @Override
  public QueueStats stats(QueueName queue) {
    return inner.stats(queue);
  }

  @Override
  public Page<SessionView> inspect(
      QueueName queue, Optional<SessionStatus> status, Page.Request page) {
    return inner.inspect(queue, status, page);
  }

  @Override
  public int act(QueueName queue, SessionId session, Act act, String reason) {
    return inner.act(queue, session, act, reason);
  }

  @Override
  public Page<DeadLetter> deadLetters(
      QueueName queue, Optional<SessionId> session, Page.Request page) {
    return inner.deadLetters(queue, session, page);
  }

  @Override
  public int countReplayable(QueueName queue, Selection selection) {
    return inner.countReplayable(queue, selection);
  }

  @Override
  public int replay(QueueName queue, Selection selection) {
    return inner.replay(queue, selection);
  }

  @Override
  public boolean discard(QueueName queue, String id) {
    return inner.discard(queue, id);
  }

  @Override
  public long purge(QueueName queue, Part part) {
    return inner.purge(queue, part);
  }

  @Override
  public boolean delete(QueueName queue) {
    return inner.delete(queue);
  }

  @Override
  public void close() {
    inner.close();
  }
}
