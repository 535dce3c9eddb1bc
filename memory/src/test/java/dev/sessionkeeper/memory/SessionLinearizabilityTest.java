package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Concurrent calls on one session have the same results as some sequence of these calls. */
@Tag("slow")
class SessionLinearizabilityTest {

  @Test
  void aSessionIsLinearizable() {
    options().check(OneSession.class);
  }

  @Test
  void aSessionWithoutItsLockIsFoundOut() {
    assertThatThrownBy(() -> options().check(SessionWithoutLock.class))
        .isInstanceOf(LincheckAssertionError.class);
  }

  private static StressOptions options() {
    return new StressOptions()
        .iterations(10)
        .invocationsPerIteration(300)
        .minimizeFailedScenario(false)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(1);
  }

  /** The calls of owners and senders. Epochs and sequence numbers count from one. */
  @Param(name = "number", gen = IntGen.class, conf = "1:3")
  public static class OneSession {
    private static final QueueName QUEUE = QueueName.of("q");
    private static final SessionId SESSION = SessionId.of("a");

    private final MemoryQueueProvider provider = MemoryQueueProvider.create(SettableClock.create());

    public OneSession() {
      provider.declare(QUEUE, QueueSettings.ordered());
    }

    @Operation
    public long send(@Param(name = "number") int number) {
      var message = Message.of(SESSION, Payload.empty()).withId(MessageId.of("m" + number));
      return switch (provider.send(QUEUE, List.of(message)).getFirst()) {
        case SendOutcome.Stored stored -> stored.sequence();
        case SendOutcome.Duplicate duplicate -> -duplicate.sequence();
        case SendOutcome.Refused refused -> 0;
      };
    }

    @Operation
    public long accept() throws InterruptedException {
      return provider.sessions(QUEUE).acceptNext(Owner.of("o"), Duration.ZERO)
              instanceof AcceptResult.Accepted accepted
          ? accepted.session().lease().epoch()
          : 0;
    }

    @Operation
    public String receive(@Param(name = "number") int epoch) {
      return held(
          epoch,
          session -> {
            try {
              return session.receive(1, Duration.ZERO).stream()
                  .map(delivery -> delivery.sequence() + "/" + delivery.attempt())
                  .findFirst()
                  .orElse("nothing");
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          });
    }

    @Operation
    public String complete(
        @Param(name = "number") int epoch, @Param(name = "number") int sequence) {
      return settle(epoch, sequence, Settlement.complete());
    }

    @Operation
    public String retry(@Param(name = "number") int epoch, @Param(name = "number") int sequence) {
      return settle(epoch, sequence, Settlement.retryAfter(Duration.ZERO));
    }

    @Operation
    public String close(@Param(name = "number") int epoch) {
      return held(
          epoch,
          session -> {
            session.close();
            return "closed";
          });
    }

    private String settle(int epoch, int sequence, Settlement settlement) {
      return held(
          epoch,
          session -> {
            session
                .settle(List.of(new HeldSession.Settled(sequence, settlement)))
                .toCompletableFuture()
                .join();
            return "settled";
          });
    }

    private String held(int epoch, Function<HeldSession, String> call) {
      try {
        return provider.sessions(QUEUE).resume(SESSION, epoch).map(call).orElse("lost");
      } catch (KeeperException.LockLost e) {
        return "lost";
      } catch (CompletionException e) {
        return e.getCause() instanceof KeeperException.LockLost ? "lost" : "out of order";
      }
    }
  }

  /** The same messages in the same ring, without a lock. */
  @Param(name = "number", gen = IntGen.class, conf = "1:3")
  public static class SessionWithoutLock {
    private final MessageRing ring = new MessageRing();

    @Operation
    public void add(@Param(name = "number") int number) {
      var message = Message.of(SessionId.of("a"), Payload.empty());
      ring.add(new Stored(message, number, Instant.EPOCH, 0, Ticks.NEVER, 0));
    }

    @Operation
    public long remove() {
      return ring.isEmpty() ? 0 : ring.removeFirst().sequence;
    }
  }
}
