package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.testkit.TestInRealTime;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Polls that meet failures and other transactions. */
class RoundsTest extends ReadsAlone {
  private static final String DISCOVERY =
      """
      SELECT 1 FROM keeper.discovery d JOIN keeper.queue k ON k.id = d.queue WHERE k.name = ? FOR UPDATE OF d NOWAIT
      """;
  private static final String LANE =
      """
      SELECT 1 FROM keeper.lane l JOIN keeper.queue k ON k.id = l.queue WHERE k.name = ? FOR NO KEY UPDATE OF l
      """;
  private static final String ACTING =
      """
      SELECT count(*) FROM pg_stat_activity a JOIN keeper.queue k ON k.name = ?
       WHERE a.pid <> pg_backend_pid() AND a.query LIKE 'SELECT keeper.act_on_session%'
      """;

  private static final Duration NOW = Duration.ofNanos(1);

  /** Fails once on the polling thread, as if memory were exhausted. */
  private static final class FailingTime implements TimeSource {
    private final TimeSource system = TimeSource.system();
    private final AtomicBoolean fails = new AtomicBoolean();

    @Override
    public Instant instant() {
      return system.instant();
    }

    @Override
    public long nanoTime() {
      if (Thread.currentThread().getName().startsWith("keeper-claim")
          && fails.compareAndSet(true, false)) {
        throw new OutOfMemoryError("planted");
      }
      return system.nanoTime();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return system.schedule(delay, task);
    }
  }

  @TestInRealTime
  void roundsGoOnAfterAnError() throws Exception {
    var time = new FailingTime();
    var options = PostgresOptions.ofDefaults().withCarryFrom(PostgresOptions.NEVER);
    try (var provider = PostgresQueueProvider.create(database.pool(), options, time)) {
      assertThat(accept(provider, Duration.ZERO)).isInstanceOf(AcceptResult.NoSession.class);
      time.fails.set(true);
      await().atMost(SOON).until(() -> hasFailed(provider, time));
      send(A, "1");

      assertThat(accept(provider, SOON)).isInstanceOf(AcceptResult.Accepted.class);
    }
  }

  /** Returns whether a caller saw the failure; the failed poll may have had no caller. */
  private boolean hasFailed(PostgresQueueProvider provider, FailingTime time) throws Exception {
    try {
      accept(provider, Duration.ofMillis(10));
    } catch (ExecutionException e) {
      assertThat(e).hasRootCauseInstanceOf(OutOfMemoryError.class);
    }
    return !time.fails.get();
  }

  /** Accepts with a time limit; without polls, the call would wait for ever. */
  private AcceptResult accept(PostgresQueueProvider provider, Duration wait) throws Exception {
    var accepted =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return provider.sessions(queue).acceptNext(ME, wait);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    return accepted.get(10, TimeUnit.SECONDS);
  }

  /**
   * A claim has locked the row and waits for the discovery of messages; an operator's act must not
   * lock the discovery meanwhile.
   */
  @TestInRealTime
  void anActWaitsForALaneWithoutHoldingUpDiscovery() throws Exception {
    send(A, "1");
    assertThat(other.act(queue, A, Act.PAUSE, "first")).isEqualTo(1);
    assertThat(lanes()).isEqualTo(1);
    CompletableFuture<Integer> acting;
    try (var claim = database.pool().getConnection()) {
      claim.setAutoCommit(false);
      assertThat(lock(claim, LANE)).isTrue();
      acting = CompletableFuture.supplyAsync(() -> other.act(queue, A, Act.RESUME, "go on"));
      // It is seen for a moment only, because it does not wait there.
      await().atMost(SOON).pollDelay(NOW).pollInterval(NOW).until(() -> count(ACTING) > 0);
      await().atMost(SOON).until(() -> canLockDiscovery());
      assertThat(acting).isNotDone();
      claim.rollback();
    }
    assertThat(acting.get()).isEqualTo(1);
  }

  private boolean canLockDiscovery() throws SQLException {
    try (var connection = database.pool().getConnection()) {
      connection.setAutoCommit(false);
      try {
        return lock(connection, DISCOVERY);
      } catch (SQLException e) {
        return false;
      } finally {
        connection.rollback();
      }
    }
  }

  private boolean lock(Connection connection, String sql) throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      statement.setString(1, queue.value());
      try (var rows = statement.executeQuery()) {
        return rows.next();
      }
    }
  }

  /** As many parked sessions as one step examines come first, and stay. */
  @TestInRealTime
  void whatIsTooOldInSessionsThatAreSetAsideKeepsNothingElseFromExpiring() throws Exception {
    var parked = new ArrayList<Message>();
    for (int i = 0; i < 600; i++) {
      parked.add(
          Message.of(SessionId.of("parked"), Payload.text("x")).withTtl(Duration.ofMillis(300)));
    }
    other.send(queue, parked);
    assertThat(other.act(queue, SessionId.of("parked"), Act.PARK, "look")).isEqualTo(1);
    other.send(queue, List.of(Message.of(A, Payload.text("old")).withTtl(Duration.ofMillis(400))));
    assertThat(other.inspect(queue, Optional.empty(), Page.Request.first(10)).items()).hasSize(2);

    await().atMost(SOON).until(() -> other.stats(queue).deadLetters() == 1);
  }
}
