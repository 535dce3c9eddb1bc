package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.spi.SessionSource;
import java.util.List;
import java.util.Optional;

/**
 * A provider around another one in which calls fail, take long, arrive twice, lose their answer or
 * find the lease gone: by chance, from a seed, or on demand.
 *
 * <p>It never breaks the contract: what it does is what networks and stores do. A handler and a
 * processor that are correct stay correct on it. Safe for threads; one seed gives one order of
 * faults, as far as the order of calls is the same.
 *
 * <p>Inspection, operator acts and dead letters are those of the provider inside.
 */
public final class FaultyProvider implements QueueProvider {
  private final QueueProvider inner;
  private final InjectedFaults mishaps;

  private FaultyProvider(QueueProvider inner, InjectedFaults mishaps) {
    this.inner = inner;
    this.mishaps = mishaps;
  }

  public static FaultyProvider around(QueueProvider inner, Faults faults, long seed) {
    return new FaultyProvider(inner, new InjectedFaults(faults, seed));
  }

  /** The next calls fail as unavailable, whatever they are. */
  public void failNext(int calls) {
    mishaps.failNext(calls);
  }

  /** The owner of this session, now or next, finds its lease gone at its next call. */
  public void loseLock(SessionId session) {
    mishaps.loseLock(session);
  }

  /** From now on other faults happen. */
  public void change(Faults faults) {
    mishaps.change(faults);
  }

  /** How many faults have happened by chance. */
  public long mishaps() {
    return mishaps.count();
  }

  @Override
  public Capabilities capabilities() {
    return inner.capabilities();
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    mishaps.before("declare");
    return inner.declare(queue, settings);
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    mishaps.before("settings");
    return inner.settings(queue);
  }

  @Override
  public List<QueueName> queues() {
    mishaps.before("queues");
    return inner.queues();
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    mishaps.before("send");
    var outcomes = inner.send(queue, messages);
    if (mishaps.repeatsSend()) {
      inner.send(queue, messages);
    }
    if (mishaps.losesAnswer()) {
      throw InjectedFaults.lostAnswer("send");
    }
    return outcomes;
  }

  @Override
  public SessionSource sessions(QueueName queue) {
    return switch (inner.sessions(queue)) {
      case ResumableSessions sessions -> new FaultySessions.Resumable(sessions, mishaps);
      case AddressableSessions sessions -> new FaultySessions.Addressable(sessions, mishaps);
      case SessionSource sessions -> new FaultySessions(sessions, mishaps);
    };
  }

  @Override
  public MessageSource messages(QueueName queue) {
    return new FaultyMessages(inner.messages(queue), mishaps);
  }

  @Override
  public void close() {
    inner.close();
  }
}
