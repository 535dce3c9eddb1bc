package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.OperableSessions.Act;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Adds the work that real deployments have beside consumers: a list of sessions every second, an
 * operator's act every five seconds, and every second a lease by name that another process
 * continues, as HTTP clients do.
 */
final class Disturb implements AutoCloseable {
  private static final Owner OWNER = Owner.of("client");
  private static final int PAGE = 100;

  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(3);
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
  private final KeeperArm product;
  private final Load load;

  private Disturb(KeeperArm product, Load load) {
    this.product = product;
    this.load = load;
  }

  static Disturb start(KeeperArm product, Load load) {
    var disturb = new Disturb(product, load);
    disturb.every(1, disturb::list);
    disturb.every(1, disturb::lease);
    disturb.every(5, disturb::act);
    return disturb;
  }

  /** Work that may fail because of concurrent work. */
  private interface Work {
    void run() throws Exception;
  }

  private void every(int seconds, Work work) {
    var unused =
        timer.scheduleAtFixedRate(
            () -> {
              try {
                work.run();
              } catch (KeeperException | ExecutionException e) {
                // The session went to another owner.
              } catch (Exception e) {
                failure.compareAndSet(null, e);
              }
            },
            200,
            seconds * 1000L,
            TimeUnit.MILLISECONDS);
  }

  private void list() {
    product.provider().inspect(product.queue(), Optional.empty(), Page.Request.first(PAGE));
  }

  private void act() {
    product.provider().act(product.queue(), any(), Act.RELEASE, "benchmark");
  }

  private void lease() throws Exception {
    var sessions = product.provider().sessions(product.queue());
    if (sessions.accept(any(), OWNER, Duration.ofMillis(100))
        instanceof AcceptResult.Accepted accepted) {
      long epoch = accepted.session().lease().epoch();
      try (var shown = sessions.handle(accepted.session().id(), epoch)) {
        for (var delivery : shown.receive(1, Duration.ZERO)) {
          load.handle(delivery.payload().unsafeBytes());
          shown
              .settle(List.of(new Settled(delivery.sequence(), Settlement.complete())))
              .toCompletableFuture()
              .get();
        }
      }
    }
  }

  private SessionId any() {
    return product.session(ThreadLocalRandom.current().nextInt(load.sessions));
  }

  @Override
  public void close() {
    timer.shutdown();
    try {
      timer.awaitTermination(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure.get() != null) {
      throw new IllegalStateException("Disturbing failed", failure.get());
    }
  }
}
