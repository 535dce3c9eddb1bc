package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.provider.PendingCalls.Settle;
import dev.sessionkeeper.client.provider.ServerCalls.About;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A lease at the server.
 *
 * <p>Settlements, renewals, the release and {@link #receiveKnown} travel in {@link Rounds}. A
 * receive that waits, and one behind open deliveries, is a request of its own.
 */
final class ServerHeldSession implements HeldSession {
  private static final int MOST_MESSAGES = Limits.DEFAULT.maxBatch();
  private static final String OCTETS = "application/octet-stream";

  private final ServerCalls calls;
  private final Rounds rounds;
  private final PendingCalls pending;
  private final About about;
  private final String path;
  private final SessionId id;
  private final Prefetch prefetch;
  private final Set<Long> open = ConcurrentHashMap.newKeySet();
  private volatile CompletableFuture<Void> lastSettled = CompletableFuture.completedFuture(null);
  private volatile Lease lease;
  private volatile boolean closed;

  ServerHeldSession(
      ServerCalls calls,
      Rounds rounds,
      PendingCalls pending,
      About about,
      String queuePath,
      Lease lease,
      Prefetch prefetch) {
    this.calls = calls;
    this.rounds = rounds;
    this.pending = pending;
    this.about = about;
    this.path = queuePath + "/leases/" + KeeperClient.encoded(pending.leaseId());
    this.id = pending.session();
    this.lease = lease;
    this.prefetch = prefetch;
  }

  /** Returns the session of a granted lease, without messages. */
  static ServerHeldSession of(
      ServerCalls calls,
      Rounds rounds,
      QueueName queue,
      String queuePath,
      Owner owner,
      JsonNode granted,
      AtomicInteger expected) {
    var id = SessionId.of(granted.path("sessionId").asString());
    var lease =
        new Lease(
            "session " + id,
            owner,
            granted.path("epoch").asLong(),
            Instant.parse(granted.path("lockedUntil").asString()));
    return new ServerHeldSession(
        calls,
        rounds,
        new PendingCalls(granted.path("leaseId").asString(), id, lease),
        About.session(queue, id, lease.epoch()),
        queuePath,
        lease,
        new Prefetch(expected, List.of()));
  }

  PendingCalls pending() {
    return pending;
  }

  @Override
  public SessionId id() {
    return id;
  }

  @Override
  public Lease lease() {
    return lease;
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    requireOpen();
    awaitSettlements();
    if (!prefetch.isEmpty()) {
      return handOut(max);
    }
    // Every answer begins with the open deliveries of the lease, so that a lost answer can be
    // requested again.
    var query =
        Map.of(
            "max",
            "" + Math.min(max + open.size(), MOST_MESSAGES),
            "wait",
            ServerSessions.shortest(wait).toString());
    var answer = calls.waiting(() -> calls.get(about, path + "/messages", query));
    return handOut(
        Wire.messages(answer, "messages").stream().map(Wire.Received::delivery).toList(), max);
  }

  @Override
  public List<Delivery> receiveKnown(int max, Duration wait) throws InterruptedException {
    requireOpen();
    prefetch.expect(max);
    if (!prefetch.isEmpty()) {
      return handOut(max);
    }
    return wait.isZero() && open.isEmpty()
        ? handOut(rounds.receive(pending, Math.min(max, MOST_MESSAGES)), max)
        : receive(max, wait);
  }

  private List<Delivery> handOut(List<Delivery> come, int max) {
    prefetch.add(come.stream().filter(each -> !open.contains(each.sequence())).toList(), max);
    return handOut(max);
  }

  private List<Delivery> handOut(int max) {
    var taken = prefetch.take(max);
    taken.forEach(each -> open.add(each.sequence()));
    return taken;
  }

  @Override
  public boolean mayHaveMore() {
    return prefetch.mayHaveMore();
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return settle(Settle.of(settlements, Optional.empty()));
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    return settle(Settle.of(settlements, Optional.of(state)));
  }

  private CompletionStage<Void> settle(Settle settle) {
    if (closed) {
      return CompletableFuture.failedFuture(lost());
    }
    var before = new HashSet<>(open);
    if (!settle.endsDeliveries()) {
      before.retainAll(sequences(settle));
    }
    open.removeAll(before);
    if (settle.endsDeliveries()) {
      // The server delivers the messages behind it again.
      prefetch.clear();
    }
    var durable = rounds.settle(pending, settle).whenComplete((done, e) -> reopen(before, e));
    lastSettled = durable;
    return durable;
  }

  private static Set<Long> sequences(Settle settle) {
    return settle.settled().stream().map(Settled::sequence).collect(Collectors.toSet());
  }

  private void reopen(Set<Long> before, @Nullable Throwable e) {
    if (e != null) {
      open.addAll(before);
    }
  }

  @Override
  public boolean closesBehindSettlements() {
    return true;
  }

  private void awaitSettlements() {
    if (!lastSettled.isDone()) {
      var unused = Rounds.joined(lastSettled.exceptionally(e -> null));
    }
  }

  @Override
  public Lease renew() {
    requireOpen();
    lease = lease.until(rounds.renew(pending));
    return lease;
  }

  @Override
  public SessionState state() {
    requireOpen();
    awaitSettlements();
    var answer = calls.state(about, "GET", path + "/state", Map.of(), Optional.empty());
    long version = version(answer);
    return version == 0 ? SessionState.none() : new SessionState(answer.body(), version);
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    requireOpen();
    awaitSettlements();
    var headers =
        write.expectedVersion() == SessionState.ANY_VERSION
            ? Map.of("Content-Type", OCTETS)
            : Map.of("Content-Type", OCTETS, "If-Match", "\"" + write.expectedVersion() + "\"");
    var answer = calls.state(about, "PUT", path + "/state", headers, Optional.of(write.bytes()));
    return new SessionState(write.bytes(), version(answer));
  }

  private static long version(KeeperClient.RawAnswer answer) {
    return Long.parseLong(answer.etag().orElse("\"0\"").replace("\"", ""));
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    rounds.releaseNow(pending);
  }

  private void requireOpen() {
    if (closed) {
      throw lost();
    }
  }

  private KeeperException lost() {
    return new KeeperException.LockLost("session " + id, lease.epoch());
  }
}
