package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Retry;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.client.provider.PendingCalls.Entry;
import dev.sessionkeeper.client.provider.PendingCalls.Receive;
import dev.sessionkeeper.client.provider.PendingCalls.Release;
import dev.sessionkeeper.client.provider.PendingCalls.Settle;
import dev.sessionkeeper.client.provider.ReadRound.Granted;
import dev.sessionkeeper.client.provider.Round.Accept;
import dev.sessionkeeper.client.provider.Round.Renewal;
import dev.sessionkeeper.client.provider.ServerCalls.About;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends the calls of the sessions of one queue in few requests, each of which settles, renews,
 * receives and accepts for many sessions.
 *
 * <p>While requests are on their way, wishes gather for the next one. A request that waits for
 * sessions carries nothing else. A request whose answer is lost is repeated with the same id, so
 * nothing is done twice.
 *
 * <p>Safe for use by many threads. Its lock guards all lists and all pending calls; results are
 * delivered without it.
 */
final class Rounds implements AutoCloseable {
  private static final int MOST_ON_THEIR_WAY = 4;

  /** A request with more sessions would answer with few messages of each. */
  private static final int MOST_SESSIONS = 32;

  private static final RetryPolicy LOST_ANSWERS =
      new RetryPolicy(4, Duration.ofMillis(100), 2, Duration.ofSeconds(1), 0.25);
  private static final Duration LEAST_WAIT = Duration.ofMillis(2);
  private static final Duration CLOSING = Duration.ofSeconds(5);

  /** How long settlements wait for others of their session. */
  private static final Duration LINGER = Duration.ofMillis(1);

  private final ServerCalls calls;
  private final QueueName queue;
  private final String path;
  private final TimeSource time;
  private final Deque<PendingCalls> ready = new ArrayDeque<>();
  private final List<PendingCalls> lingering = new ArrayList<>();
  private final Deque<Renewal> renewals = new ArrayDeque<>();
  private final Deque<Accept> hurried = new ArrayDeque<>();
  private final Deque<Accept> patient = new ArrayDeque<>();
  private int onTheirWay;
  private @Nullable Poll poll;
  private boolean isClosed;

  Rounds(ServerCalls calls, QueueName queue, String path, TimeSource time) {
    this.calls = calls;
    this.queue = queue;
    this.path = path;
    this.time = time;
  }

  /** The request that waits for sessions, and the thread that makes it. */
  private record Poll(Round round, Thread thread) {}

  /**
   * Accepts a session with its first messages; waits for one if there is none.
   *
   * @return empty if none had work in time
   */
  Optional<ServerHeldSession> accept(Owner owner, AtomicInteger prefetch, Duration wait)
      throws InterruptedException {
    long until = time.nanoTime() + wait.toNanos();
    var accept = new Accept(owner, until, prefetch, new CompletableFuture<>());
    synchronized (this) {
      if (isClosed) {
        throw closed();
      }
      hurried.add(accept);
      send();
    }
    try {
      return accept.done().get();
    } catch (InterruptedException e) {
      withdraw(accept);
      throw e;
    } catch (ExecutionException e) {
      throw cause(e);
    }
  }

  /** A session that comes too late is released. */
  private void withdraw(Accept accept) {
    if (!accept.done().cancel(false)) {
      var unused =
          accept.done().thenAccept(come -> come.ifPresent(session -> giveBack(session.pending())));
      return;
    }
    synchronized (this) {
      hurried.remove(accept);
      patient.remove(accept);
      if (poll != null && poll.round().accepts().stream().allMatch(each -> each.done().isDone())) {
        poll.thread().interrupt();
      }
    }
  }

  /** Settles soon, together with what the session wants next. */
  synchronized CompletableFuture<Void> settle(PendingCalls pending, Settle settle) {
    pending.add(settle);
    if (settle.isUrgent()) {
      sendNow(pending);
    } else {
      if (lingering.isEmpty()) {
        var unused = time.schedule(LINGER, this::lingerNoMore);
      }
      lingering.add(pending);
    }
    return settle.done();
  }

  private synchronized void lingerNoMore() {
    lingering.forEach(this::queue);
    lingering.clear();
    send();
  }

  /** Receives what is there, behind the settlements sent before. */
  List<Delivery> receive(PendingCalls pending, int max) throws InterruptedException {
    var receive = new Receive(max, new CompletableFuture<>());
    synchronized (this) {
      pending.add(receive);
      sendNow(pending);
    }
    try {
      return receive.done().get();
    } catch (ExecutionException e) {
      throw cause(e);
    }
  }

  Instant renew(PendingCalls pending) {
    var renewal = new Renewal(pending.leaseId(), new CompletableFuture<>());
    synchronized (this) {
      renewals.add(renewal);
      send();
    }
    return joined(renewal.done());
  }

  /** Releases the session behind the settlements sent before, and returns when it is done. */
  void releaseNow(PendingCalls pending) {
    joined(release(pending));
  }

  private CompletableFuture<Void> release(PendingCalls pending) {
    var release = new Release(new CompletableFuture<>());
    synchronized (this) {
      pending.add(release);
      sendNow(pending);
    }
    return release.done();
  }

  private void giveBack(PendingCalls pending) {
    var unused = release(pending);
  }

  static <T> T joined(CompletableFuture<T> stage) {
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          return stage.get();
        } catch (InterruptedException e) {
          isInterrupted = true;
        } catch (ExecutionException e) {
          throw cause(e);
        }
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RuntimeException cause(ExecutionException e) {
    return e.getCause() instanceof RuntimeException cause
        ? cause
        : new IllegalStateException(e.getCause());
  }

  private void sendNow(PendingCalls pending) {
    queue(pending);
    send();
  }

  private void queue(PendingCalls pending) {
    if (pending.queue()) {
      ready.add(pending);
    }
  }

  /** Starts requests while there is something to send. */
  private void send() {
    while (onTheirWay < MOST_ON_THEIR_WAY
        && !(ready.isEmpty() && renewals.isEmpty() && hurried.isEmpty())) {
      onTheirWay++;
      var round = Round.of(entries(), taken(renewals), accepts(hurried), Duration.ZERO);
      Thread.ofVirtual().name("keeper-round").start(() -> run(round));
    }
    poll();
  }

  /** Takes the entries of one request. One that may fail the whole request is sent alone. */
  private List<Entry> entries() {
    var entries = new ArrayList<Entry>();
    while (!ready.isEmpty() && entries.size() < MOST_SESSIONS) {
      boolean isRisky = ready.element().hasOneOftenRefused();
      if (isRisky && !entries.isEmpty()) {
        return entries;
      }
      entries.add(ready.remove().take());
      if (isRisky) {
        return entries;
      }
    }
    return entries;
  }

  private static List<Renewal> taken(Deque<Renewal> renewals) {
    var taken = new ArrayList<Renewal>();
    while (!renewals.isEmpty() && taken.size() < MOST_SESSIONS) {
      taken.add(renewals.remove());
    }
    return taken;
  }

  /** Takes the accepts of one owner. */
  private static List<Accept> accepts(Deque<Accept> from) {
    var taken = new ArrayList<Accept>();
    for (var all = from.iterator(); all.hasNext() && taken.size() < MOST_SESSIONS; ) {
      var accept = all.next();
      if (taken.isEmpty() || taken.getFirst().owner().equals(accept.owner())) {
        taken.add(accept);
        all.remove();
      }
    }
    return taken;
  }

  private void run(Round round) {
    try {
      exchange(round);
    } finally {
      synchronized (this) {
        onTheirWay--;
        round.entries().forEach(entry -> entry.of().returned());
        round.entries().forEach(entry -> queue(entry.of()));
        send();
        notifyAll();
      }
    }
  }

  private void exchange(Round round) {
    try {
      answered(round, ReadRound.from(sent(round)));
    } catch (KeeperException.Rejected | KeeperException.LimitExceeded e) {
      // The server refused the request before the first effect, because of one of its parts.
      var apart = round.apart();
      apart.forEach(this::exchange);
      if (apart.isEmpty()) {
        failed(round, e);
      }
    } catch (RuntimeException e) {
      failed(round, e);
    }
  }

  /** Sends a request until it is answered; a repetition does nothing twice. */
  private byte[] sent(Round round) {
    var body = round.json();
    return Retry.call(
        LOST_ANSWERS,
        e ->
            e instanceof KeeperException.Unavailable || e instanceof KeeperException.OutcomeUnknown,
        () -> calls.post(About.queue(queue), path + "/work", body));
  }

  private void answered(Round round, ReadRound.Answer answer) {
    var come = new HashMap<String, Granted>();
    answer.sessions().forEach(each -> come.put(each.leaseId(), each));
    for (int i = 0; i < round.entries().size(); i++) {
      var entry = round.entries().get(i);
      var outcome = answer.settled().get(i);
      var next = Optional.ofNullable(come.remove(entry.of().leaseId()));
      if (outcome.isSettled()) {
        settled(entry, next);
      } else {
        changedNothing(entry, entry.error(outcome.word(), outcome.detail()));
      }
    }
    for (int i = 0; i < round.renewals().size(); i++) {
      var renewal = round.renewals().get(i);
      answer
          .renewed()
          .get(i)
          .until()
          .ifPresentOrElse(
              renewal.done()::complete,
              () ->
                  renewal
                      .done()
                      .completeExceptionally(new KeeperException.LockLost("the session", 0)));
    }
    handOut(
        round,
        answer.sessions().stream().filter(each -> come.containsKey(each.leaseId())).toList());
  }

  private static void settled(Entry entry, Optional<Granted> next) {
    entry.settled();
    switch (entry.last().orElse(null)) {
      case null -> {}
      case Settle settle -> {}
      case Receive receive ->
          receive.done().complete(next.map(Granted::messages).orElse(List.of()));
      case Release release -> release.done().complete(null);
    }
  }

  private void changedNothing(Entry entry, KeeperException e) {
    boolean isLost = e instanceof KeeperException.LockLost;
    boolean mayBeOfOther =
        entry.settles().size() > 1
            && (e instanceof KeeperException.OutOfOrder || e instanceof KeeperException.StaleState);
    if (mayBeOfOther) {
      // Settlements that share an entry take effect together: sent apart, those before the wrong
      // one do.
      putBack(entry, entry.settles());
    } else if (isLost || entry.settles().isEmpty()) {
      entry.failed(e);
      entry.lastFailed(e);
    } else {
      entry.failed(e);
      putBack(entry, List.of());
    }
  }

  private synchronized void putBack(Entry entry, List<Settle> settles) {
    entry.of().putBack(settles, entry.last());
  }

  private void failed(Round round, RuntimeException e) {
    for (var entry : round.entries()) {
      entry.failed(e);
      entry.lastFailed(e);
    }
    round.renewals().forEach(each -> each.done().completeExceptionally(e));
    round.accepts().forEach(each -> each.done().completeExceptionally(e));
  }

  private void handOut(Round round, Collection<Granted> sessions) {
    var accepts = new ArrayDeque<>(round.accepts());
    for (var granted : sessions) {
      boolean isTaken = false;
      while (!isTaken && !accepts.isEmpty()) {
        var accept = accepts.remove();
        isTaken = accept.done().complete(Optional.of(held(granted, accept)));
      }
      if (!isTaken) {
        giveBack(pending(granted, lease(granted, Owner.of("nobody"))));
      }
    }
    keepWaiting(accepts);
  }

  private void keepWaiting(Collection<Accept> accepts) {
    for (var accept : accepts) {
      if (left(accept).isZero()) {
        accept.done().complete(Optional.empty());
      } else {
        keepWaiting(accept);
      }
    }
  }

  private synchronized void keepWaiting(Accept accept) {
    if (!accept.done().isDone()) {
      patient.add(accept);
      poll();
    }
  }

  private Duration left(Accept accept) {
    var left = Duration.ofNanos(accept.until() - time.nanoTime());
    return left.compareTo(LEAST_WAIT) < 0 ? Duration.ZERO : left;
  }

  /** Starts the request that waits for sessions, unless one is on its way. */
  private void poll() {
    if (poll != null || patient.isEmpty()) {
      return;
    }
    var accepts = accepts(patient);
    var wait = accepts.stream().map(this::left).min(Comparator.naturalOrder()).orElseThrow();
    var round = Round.of(List.of(), List.of(), accepts, ServerSessions.shortest(wait));
    var thread = Thread.ofVirtual().name("keeper-poll").unstarted(() -> await(round));
    poll = new Poll(round, thread);
    thread.start();
  }

  private void await(Round round) {
    try {
      exchange(round);
      if (Thread.interrupted()) {
        lookBack(round);
      }
    } finally {
      synchronized (this) {
        poll = null;
        poll();
        notifyAll();
      }
    }
  }

  /** The server may have granted sessions in an answer that was cut off. */
  private void lookBack(Round round) {
    try {
      handOut(round, ReadRound.from(sent(round.lookingBack())).sessions());
    } catch (KeeperException e) {
      // Then the leases expire.
    }
  }

  private ServerHeldSession held(Granted granted, Accept accept) {
    var lease = lease(granted, accept.owner());
    return new ServerHeldSession(
        calls,
        this,
        pending(granted, lease),
        About.session(queue, granted.session(), granted.epoch()),
        path,
        lease,
        new Prefetch(accept.prefetch(), granted.messages()));
  }

  private static PendingCalls pending(Granted granted, Lease lease) {
    return new PendingCalls(granted.leaseId(), granted.session(), lease);
  }

  private static Lease lease(Granted granted, Owner owner) {
    return new Lease("session " + granted.session(), owner, granted.epoch(), granted.lockedUntil());
  }

  /** Ends the waiting, and waits a moment for what is on its way. */
  @Override
  public synchronized void close() {
    isClosed = true;
    patient.forEach(each -> each.done().completeExceptionally(closed()));
    patient.clear();
    if (poll != null) {
      poll.thread().interrupt();
    }
    long until = time.nanoTime() + CLOSING.toNanos();
    try {
      while ((onTheirWay > 0 || poll != null) && time.nanoTime() < until) {
        wait(100);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static KeeperException closed() {
    return new KeeperException.Closed("The provider of the server's queues");
  }
}
