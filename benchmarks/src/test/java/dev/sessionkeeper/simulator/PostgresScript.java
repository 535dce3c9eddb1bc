package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** A queue in PostgreSQL. */
final class PostgresScript implements ScriptedStore {
  private static final long PATIENCE_SECONDS = 30;

  private final QueueProvider provider;
  private final QueueName queue;
  private final Map<String, HeldSession> held = new HashMap<>();

  PostgresScript(QueueProvider provider, QueueName queue) {
    this.provider = provider;
    this.queue = queue;
  }

  @Override
  public List<SendOutcome> send(List<Message> messages) {
    return provider.send(queue, messages);
  }

  @Override
  public Optional<String> accept(String owner, Duration wait) throws InterruptedException {
    if (provider.sessions(queue).acceptNext(Owner.of(owner), wait)
        instanceof AcceptResult.Accepted accepted) {
      held.put(owner, accepted.session());
      return Optional.of(accepted.session().id().value());
    }
    return Optional.empty();
  }

  private HeldSession of(String owner) {
    return Optional.ofNullable(held.get(owner)).orElseThrow();
  }

  @Override
  public List<Delivery> receive(String owner, int max) throws InterruptedException {
    return of(owner).receive(max, Duration.ZERO);
  }

  @Override
  public void settle(String owner, List<Settled> settlements, Optional<SessionState.Write> state)
      throws Exception {
    var done =
        state.isPresent()
            ? of(owner).settle(settlements, state.get())
            : of(owner).settle(settlements);
    try {
      done.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  @Override
  public SessionState state(String owner) {
    return of(owner).state();
  }

  @Override
  public void renew(String owner) {
    of(owner).renew();
  }

  @Override
  public void close(String owner) {
    of(owner).close();
  }

  @Override
  public long epoch(String owner) {
    return of(owner).lease().epoch();
  }
}
