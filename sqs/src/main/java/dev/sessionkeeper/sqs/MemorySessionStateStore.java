package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A state store in memory, for tests and for a single process that may lose state. */
public final class MemorySessionStateStore implements SessionStateStore {
  private final Map<Key, Entry> entries = new ConcurrentHashMap<>();

  @Override
  public long open(QueueName queue, SessionId session, long atLeast) {
    return entries
        .merge(
            new Key(queue, session),
            new Entry(atLeast, SessionState.none()),
            (old, fresh) -> new Entry(Math.max(old.epoch() + 1, atLeast), old.state()))
        .epoch();
  }

  @Override
  public SessionState read(QueueName queue, SessionId session) {
    var entry = entries.get(new Key(queue, session));
    return entry == null ? SessionState.none() : entry.state();
  }

  @Override
  public SessionState write(
      QueueName queue, SessionId session, long epoch, SessionState.Write write) {
    return entries
        .compute(
            new Key(queue, session),
            (key, old) -> {
              if (old == null || old.epoch() > epoch) {
                throw new KeeperException.LockLost("session " + session, epoch);
              }
              long version = old.state().version();
              if (write.expectedVersion() != SessionState.ANY_VERSION
                  && write.expectedVersion() != version) {
                throw new KeeperException.StaleState(session, write.expectedVersion(), version);
              }
              return new Entry(old.epoch(), new SessionState(write.bytes().clone(), version + 1));
            })
        .state();
  }

  @Override
  public void forget(QueueName queue) {
    entries.keySet().removeIf(key -> key.queue().equals(queue));
  }

  private record Key(QueueName queue, SessionId session) {}

  private record Entry(long epoch, SessionState state) {}
}
