package dev.sessionkeeper.testkit;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.MessageSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The messages of an unordered queue of a {@link FaultyProvider}. */
final class FaultyMessages implements MessageSource {
  private final MessageSource inner;
  private final InjectedFaults mishaps;

  FaultyMessages(MessageSource inner, InjectedFaults mishaps) {
    this.inner = inner;
    this.mishaps = mishaps;
  }

  @Override
  public List<Receipted> receive(int max, Duration wait) throws InterruptedException {
    mishaps.before("receive");
    return inner.receive(max, wait);
  }

  @Override
  public CompletionStage<Void> settle(String receipt, Settlement settlement) {
    try {
      mishaps.before("settle");
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    }
    var stage = inner.settle(receipt, settlement);
    return mishaps.losesAnswer()
        ? stage.thenRun(
            () -> {
              throw InjectedFaults.lostAnswer("settle");
            })
        : stage;
  }

  @Override
  public Instant renew(String receipt) {
    mishaps.before("renew");
    return inner.renew(receipt);
  }
}
