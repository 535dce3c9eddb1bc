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
 * A provider around another one in which calls fail, are delayed, arrive twice, lose their answer
 * or find the lease lost: at random, from a seed, or on demand.
 *
 * <p>It never breaks the contract: it does what networks and stores do. A correct handler and
 * processor stay correct on it. Thread-safe; one seed gives one sequence of faults for the same
 * sequence of calls.
 *
 * <p>Inspection, operators' acts and dead letters are those of the wrapped provider.
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

  /** Makes the next calls fail as unavailable, whatever they are. */
  public void failNext(int calls) {
    mishaps.failNext(calls);
  }

  /** Makes the present or next owner of this session find its lease lost at its next call. */
  public void loseLock(SessionId session) {
    mishaps.loseLock(session);
  }

  /** Changes the faults from now on. */
  public void change(Faults faults) {
    mishaps.change(faults);
  }

  /** Returns how many random faults have happened. */
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
