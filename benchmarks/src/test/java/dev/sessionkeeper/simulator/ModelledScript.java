package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The modelled store. Its clock moves only while an owner waits. */
final class ModelledScript implements ScriptedStore {
  private static final Duration STEP = Duration.ofMillis(10);

  private final Map<String, QueueTables.Granted> held = new HashMap<>();
  private final QueueTables tables;
  private Instant now = Instant.EPOCH;

  ModelledScript(Duration lock, int maxDeliveries, Set<Bug> bugs) {
    this.tables = new QueueTables(bugs, new Referee(), lock, maxDeliveries);
  }

  @Override
  public List<SendOutcome> send(List<Message> messages) {
    return tables.send(messages, now);
  }

  @Override
  public Optional<String> accept(String owner, Duration wait) {
    var end = now.plus(wait);
    while (true) {
      var granted = tables.accept(owner, now);
      if (granted.isPresent()) {
        held.put(owner, granted.get());
        return Optional.of(granted.get().session().value());
      }
      if (!now.isBefore(end)) {
        return Optional.empty();
      }
      now = now.plus(STEP);
    }
  }

  private QueueTables.Granted of(String owner) {
    return Optional.ofNullable(held.get(owner)).orElseThrow();
  }

  @Override
  public List<Delivery> receive(String owner, int max) {
    return tables.receive(of(owner).session(), epoch(owner), max, now);
  }

  @Override
  public void settle(String owner, List<Settled> settlements, Optional<SessionState.Write> state) {
    tables.settle(of(owner).session(), epoch(owner), settlements, state, now);
  }

  @Override
  public SessionState state(String owner) {
    return tables.state(of(owner).session(), epoch(owner), now);
  }

  @Override
  public void renew(String owner) {
    tables.renew(of(owner).session(), epoch(owner), now);
  }

  @Override
  public void close(String owner) {
    tables.close(of(owner).session(), epoch(owner), now);
  }

  @Override
  public long epoch(String owner) {
    return of(owner).epoch();
  }
}
