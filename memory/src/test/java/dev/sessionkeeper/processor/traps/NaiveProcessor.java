package dev.sessionkeeper.processor.traps;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.CloseReason;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A simple session processor with a switch for each mistake. Without a bug it passes every trap;
 * with one it must be caught.
 */
final class NaiveProcessor implements AutoCloseable {
  private final Trial trial;
  private final Set<Bug> bugs;
  private final SessionSource source;
  private final Random random = new Random(1);
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopping;

  NaiveProcessor(Trial trial, Set<Bug> bugs) {
    this.trial = trial;
    this.bugs = bugs;
    this.source = trial.provider().sessions(Traps.QUEUE);
    for (int i = 0; i < trial.slots(); i++) {
      threads.add(Thread.ofVirtual().unstarted(this::runSlot));
    }
    threads.forEach(Thread::start);
  }

  private boolean has(Bug bug) {
    return bugs.contains(bug);
  }

  private void runSlot() {
    Optional<SessionId> again = Optional.empty();
    while (!stopping) {
      try {
        var result = accept(again);
        again = Optional.empty();
        if (result instanceof AcceptResult.Accepted accepted) {
          again = serve(accepted.session());
        } else if (!has(Bug.SPINS_WHEN_NOTHING_IS_THERE)) {
          TimeUnit.MILLISECONDS.sleep(10);
        }
      } catch (InterruptedException e) {
        return;
      } catch (KeeperException e) {
        if (has(Bug.ACCEPT_FAILURE_ENDS_ALL)) {
          stopping = true;
          threads.forEach(Thread::interrupt);
        }
      }
    }
  }

  private AcceptResult accept(Optional<SessionId> again) throws InterruptedException {
    if (again.isPresent() && source instanceof AddressableSessions sessions) {
      return sessions.accept(again.get(), Owner.of("naive"), Duration.ZERO);
    }
    long wait = has(Bug.ALL_WAIT_THE_SAME_TIME) ? 1000 : 750 + random.nextInt(250);
    return source.acceptNext(Owner.of("naive"), Duration.ofMillis(wait));
  }

  /** Serves a session. Returns the session to accept again, in the buggy variant. */
  private Optional<SessionId> serve(HeldSession session) throws InterruptedException {
    var context = new Context(session);
    try {
      try {
        trial.hooks().onSessionOpened(context);
      } catch (Exception e) {
        if (!has(Bug.OPEN_FAILURE_IS_IGNORED)) {
          TimeUnit.MILLISECONDS.sleep(50);
          return Optional.empty();
        }
      }
      serveMessages(session, context);
      return context.released && has(Bug.RELEASED_SESSION_IS_TAKEN_AGAIN)
          ? Optional.of(session.id())
          : Optional.empty();
    } finally {
      if (!(stopping && has(Bug.STOP_KEEPS_LEASES))) {
        session.close();
      }
      close(context);
    }
  }

  private void close(Context context) {
    try {
      trial.hooks().onSessionClosed(context, CloseReason.IDLE);
    } catch (Exception e) {
      // A failing hook stops no other work.
    }
  }

  private void serveMessages(HeldSession session, Context context) throws InterruptedException {
    long idleSince = System.nanoTime();
    while (!stopping && !context.released) {
      var batch = session.receive(trial.prefetch(), Duration.ZERO);
      long arrived = System.nanoTime();
      if (batch.isEmpty()) {
        if (System.nanoTime() - idleSince >= trial.idle().toNanos()) {
          return;
        }
        TimeUnit.MILLISECONDS.sleep(2);
        continue;
      }
      if (!serveBatch(session, context, batch)) {
        return;
      }
      idleSince = has(Bug.IDLE_COUNTS_HANDLER_TIME) ? arrived : System.nanoTime();
      if (System.nanoTime() - idleSince >= trial.idle().toNanos()) {
        return;
      }
    }
  }

  private boolean serveBatch(HeldSession session, Context context, List<Delivery> batch)
      throws InterruptedException {
    for (var delivery : batch) {
      var settlement = handle(session, delivery, context);
      if (!context.isLockHeld()) {
        return false;
      }
      var stage = session.settle(List.of(new Settled(delivery.sequence(), settlement)));
      if (stage.toCompletableFuture().isCompletedExceptionally()) {
        if (!has(Bug.BATCH_GOES_ON_AFTER_FAILURE)) {
          return false;
        }
      } else if (settlement instanceof Settlement.Retry && !has(Bug.BATCH_GOES_ON_AFTER_FAILURE)) {
        while (has(Bug.FAILED_SESSION_IS_STILL_RENEWED) && !stopping) {
          session.renew();
          TimeUnit.MILLISECONDS.sleep(20);
        }
        return false;
      }
      if (context.released || stopping) {
        return false;
      }
    }
    return true;
  }

  private Settlement handle(HeldSession session, Delivery delivery, Context context)
      throws InterruptedException {
    var renewer = has(Bug.LOST_LOCK_IS_NOT_TOLD) ? null : renewWhileHandling(session, context);
    try {
      return trial.handler().handle(delivery, context);
    } catch (Exception failure) {
      return failed(delivery, failure);
    } finally {
      if (renewer != null) {
        renewer.interrupt();
        renewer.join();
        Thread.interrupted();
      }
    }
  }

  private Thread renewWhileHandling(HeldSession session, Context context) {
    var worker = Thread.currentThread();
    return Thread.ofVirtual()
        .start(
            () -> {
              try {
                while (true) {
                  TimeUnit.MILLISECONDS.sleep(200);
                  session.renew();
                }
              } catch (InterruptedException e) {
                // The handler has ended.
              } catch (KeeperException.LockLost e) {
                context.held = false;
                worker.interrupt();
              }
            });
  }

  private Settlement failed(Delivery delivery, Exception failure) {
    if (delivery.attempt() >= Trial.ATTEMPTS) {
      return has(Bug.DEAD_LETTER_DELETES)
          ? Settlement.complete()
          : Settlement.deadLetter("poison", failure.toString());
    }
    if (has(Bug.RETRY_GOES_TO_THE_TAIL)) {
      var again = Message.of(delivery.message().session().orElseThrow(), delivery.payload());
      trial.provider().send(Traps.QUEUE, List.of(again));
      return Settlement.complete();
    }
    return Settlement.retryAfter(trial.retry());
  }

  @Override
  public void close() throws InterruptedException {
    stopping = true;
    for (var thread : threads) {
      if (has(Bug.STOP_WAITS_FOR_EVER)) {
        thread.join();
      } else {
        thread.join(Duration.ofMillis(100));
        thread.interrupt();
        thread.join(Duration.ofMillis(500));
      }
    }
  }

  private static final class Context implements SessionContext {
    private final HeldSession session;
    private volatile boolean held = true;
    private volatile boolean released;

    Context(HeldSession session) {
      this.session = session;
    }

    @Override
    public SessionId id() {
      return session.id();
    }

    @Override
    public long epoch() {
      return session.lease().epoch();
    }

    @Override
    public boolean isLockHeld() {
      return held;
    }

    @Override
    public Instant lockedUntil() {
      return session.lease().until();
    }

    @Override
    public SessionState state() {
      return session.state();
    }

    @Override
    public SessionState writeState(SessionState.Write write) {
      return session.writeState(write);
    }

    @Override
    public void writeStateOnSettle(SessionState.Write write) {
      session.writeState(write);
    }

    @Override
    public void releaseSession() {
      released = true;
    }
  }
}
