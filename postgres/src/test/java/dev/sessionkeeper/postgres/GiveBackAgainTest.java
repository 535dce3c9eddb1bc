package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;

/** A session whose row is locked by another transaction while its owner gives it back. */
class GiveBackAgainTest extends ReadsAlone {
  private static final Duration LONG = Duration.ofMinutes(1);

  /** Otherwise no consumer would get it before the end of its lease. */
  @TestInRealTime
  void theSessionIsGivenBackWhenItsRowIsFree() throws Exception {
    reader.declare(queue, QueueSettings.ordered().withLockDuration(LONG));
    send(A, "1");
    var held = take(other, queue, OTHER);
    assertThat(lanes()).isEqualTo(1);

    try (var blocker = database.pool().getConnection()) {
      blocker.setAutoCommit(false);
      try (var lock =
          blocker.prepareStatement(
              "SELECT FROM keeper.lane l JOIN keeper.queue k ON k.id = l.queue WHERE k.name = ? FOR UPDATE OF l")) {
        lock.setString(1, queue.value());
        lock.execute();
      }
      assertThatThrownBy(held::close).isInstanceOf(KeeperException.Unavailable.class);
      blocker.rollback();
    }

    var again = take(other, queue, ME);
    assertThat(again.receive(1, SOON).get(0).attempt()).isEqualTo(1);
    again.close();
  }
}
