package dev.sessionkeeper.jobs;

import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of all runs of this process, every third of a lease, on a connection of its own
 * that an exhausted pool cannot starve.
 *
 * <p>If a renewal changes nothing, the lease is lost and its run is stopped at once. If a renewal
 * fails, it is repeated until the lease cannot be trusted any more; then its run is stopped,
 * whatever the database says.
 *
 * <p>One platform thread talks to the database. Timers decide when, and watch the deadlines, so a
 * hanging call delays no deadline.
 */
final class RenewLeases implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RenewLeases.class);

  private final DataSource source;
  private final JobLeases leases;
  private final TimeSource time;
  private final Duration third;
  private final Map<HeldLease, TimeSource.Timer> timers = new ConcurrentHashMap<>();
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("keeper-lease-renewal").factory());
  private @Nullable Connection own;

  RenewLeases(DataSource source, JobLeases leases, JobOptions options) {
    this.source = source;
    this.leases = leases;
    this.time = options.time();
    this.third = options.lease().dividedBy(3);
  }

  /** Opens the connection early: an exhausted pool must not cost the first lease. */
  void start() {
    thread.execute(
        () -> {
          try {
            connection();
          } catch (SQLException e) {
            log.warn("No connection for renewals yet; it is opened when it is needed", e);
          }
        });
  }

  void keep(HeldLease held) {
    arm(held, third);
    watch(held);
  }

  void letGo(HeldLease held) {
    var timer = timers.remove(held);
    if (timer != null) {
      timer.cancel();
    }
  }

  private void arm(HeldLease held, Duration delay) {
    timers.put(held, time.schedule(delay, () -> submit(held)));
  }

  private void submit(HeldLease held) {
    try {
      thread.execute(() -> renew(held));
    } catch (RejectedExecutionException closed) {
      log.debug("No renewal of {} any more: closed", held.lease().resource());
    }
  }

  private void watch(HeldLease held) {
    time.schedule(held.remaining().plusMillis(1), () -> check(held));
  }

  private void check(HeldLease held) {
    if (!timers.containsKey(held) || held.lost() != null) {
      return;
    }
    if (held.isHeld()) {
      watch(held);
    } else {
      // Not on the timer's thread, because the tasks of a lost lease interrupt and abort.
      Thread.startVirtualThread(() -> held.lose("it could not be renewed in time"));
    }
  }

  private void renew(HeldLease held) {
    if (!timers.containsKey(held)) {
      return;
    }
    long sent = time.nanoTime();
    try {
      if (leases.renew(connection(), held.lease())) {
        held.renewed(sent);
        again(held, third);
      } else {
        held.lose("another owner has it, or it ran out");
      }
    } catch (SQLException e) {
      if (own != null) {
        log.warn(
            "The lease on job {} could not be renewed; trying again for {}: {}",
            held.lease().resource(),
            held.remaining(),
            e.getMessage());
      }
      closeConnection();
      if (held.isHeld()) {
        again(held, third.dividedBy(10));
      }
    }
  }

  private void again(HeldLease held, Duration delay) {
    timers.computeIfPresent(held, (lease, timer) -> time.schedule(delay, () -> submit(lease)));
  }

  private Connection connection() throws SQLException {
    if (own == null) {
      var opened = source.getConnection();
      // A hanging call must end while another renewal can still save the lease.
      opened.setNetworkTimeout(Runnable::run, (int) Math.max(100, third.toMillis()));
      own = opened;
    }
    return own;
  }

  private void closeConnection() {
    if (own == null) {
      return;
    }
    try {
      own.close();
    } catch (SQLException e) {
      log.debug("A broken connection could not be closed", e);
    }
    own = null;
  }

  @Override
  public void close() {
    timers.values().forEach(TimeSource.Timer::cancel);
    timers.clear();
    thread.execute(this::closeConnection);
    thread.shutdown();
  }
}
