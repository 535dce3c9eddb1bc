package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.client.ProblemException;
import dev.sessionkeeper.client.provider.ServerCalls.About;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/** Sessions of one queue, over HTTP. */
final class ServerSessions implements AddressableSessions {
  /** The longest wait that the server allows. */
  static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

  /**
   * How long an answer is reused, because every idle session of a process asks the same question.
   */
  private static final Duration KEPT = Duration.ofMillis(250);

  private final ServerCalls calls;
  private final QueueName queue;
  private final String path;
  private final Rounds rounds;
  private final TimeSource time;

  /** Set by the first {@code receiveKnown}, see {@link Prefetch}. */
  private final AtomicInteger prefetch = new AtomicInteger();

  private boolean ready;
  private Optional<Long> readyAskedAt = Optional.empty();

  ServerSessions(ServerCalls calls, QueueName queue, String path, Rounds rounds, TimeSource time) {
    this.calls = calls;
    this.queue = queue;
    this.path = path;
    this.rounds = rounds;
    this.time = time;
  }

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    if (prefetch.get() == 0) {
      // Messages that come along count as delivered, and this caller may want none.
      return accept(Optional.empty(), owner, wait);
    }
    return rounds
        .accept(owner, prefetch, shortest(wait))
        .<AcceptResult>map(AcceptResult.Accepted::new)
        .orElseGet(AcceptResult.NoSession::new);
  }

  @Override
  public AcceptResult accept(SessionId session, Owner owner, Duration wait)
      throws InterruptedException {
    return accept(Optional.of(session), owner, wait);
  }

  private AcceptResult accept(Optional<SessionId> session, Owner owner, Duration wait)
      throws InterruptedException {
    var body = Wire.object();
    session.ifPresent(id -> body.put("sessionId", id.value()));
    body.put("owner", owner.name());
    body.put("wait", shortest(wait).toString());
    try {
      var granted = calls.waiting(() -> calls.post(About.queue(queue), path + "/leases", body));
      return granted.length == 0
          ? new AcceptResult.NoSession()
          : new AcceptResult.Accepted(
              ServerHeldSession.of(
                  calls, rounds, queue, path, owner, Wire.read(granted), prefetch));
    } catch (ProblemException e) {
      return refused(e.type(), e.document());
    }
  }

  private static AcceptResult refused(String type, JsonNode problem) {
    if (type.equals("session-locked")) {
      return new AcceptResult.Locked(Instant.parse(problem.path("lockedUntil").asString()));
    }
    return new AcceptResult.SetAside(
        SessionStatus.valueOf(
            problem.path("sessionStatus").asString("parked").toUpperCase(Locale.ROOT)),
        problem.path("reason").asString(""),
        Instant.parse(problem.path("since").asString()));
  }

  static Duration shortest(Duration wait) {
    return wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT;
  }

  @Override
  public synchronized boolean hasReadySession() {
    if (readyAskedAt.isEmpty() || time.since(readyAskedAt.get()).compareTo(KEPT) >= 0) {
      ready = Wire.read(calls.get(About.queue(queue), path, Map.of())).path("ready").asLong(0) > 0;
      readyAskedAt = Optional.of(time.nanoTime());
    }
    return ready;
  }
}
