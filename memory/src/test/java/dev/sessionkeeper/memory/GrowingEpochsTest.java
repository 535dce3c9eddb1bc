package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Every acquisition of a session raises its epoch (S-02), however its takers interleave. */
class GrowingEpochsTest {
  private static final SessionId SESSION = SessionId.of("a");

  private final OrderedQueue queue =
      new OrderedQueue(
          new QueueBooks(
              QueueName.of("q"),
              QueueSettings.ordered(),
              new Ticks(TimeSource.system()),
              Long.MAX_VALUE));

  @Test
  void anOwnerThatIsDelayedOnItsWayToASessionStillRaisesTheEpoch() throws Exception {
    queue.send(List.of(Message.of(SESSION, Payload.empty())));
    var entry = queue.entries().iterator().next();
    var delayed = new FutureTask<>(() -> queue.acceptNext(Owner.of("delayed"), Duration.ZERO));
    long overtaking;
    entry.lock.lock();
    try {
      Thread.ofPlatform().start(delayed);
      await().until(entry.lock::hasQueuedThreads);
      // The delayed owner has left the row; another one accepts the session by name and releases
      // it.
      overtaking = takeAndClose(queue.accept(SESSION, Owner.of("named"), Duration.ZERO));
    } finally {
      entry.lock.unlock();
    }

    assertThat(takeAndClose(delayed.get())).isGreaterThan(overtaking);
  }

  private static long takeAndClose(AcceptResult result) {
    assertThat(result).isInstanceOf(AcceptResult.Accepted.class);
    try (var session = ((AcceptResult.Accepted) result).session()) {
      return session.lease().epoch();
    }
  }
}
