package dev.sessionkeeper.benchmarks;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A provider as one worker uses it: session after session, batch after batch. If a close includes
 * the settlements before it, the worker continues with the next session meanwhile; all have ended
 * at the end.
 *
 * @param prefetch messages requested at once
 * @param burst messages of a session that are sent, and then held, together
 */
record DrainProvider(String name, QueueProvider provider, int prefetch, int burst) implements Arm {
  private static final QueueName QUEUE = QueueName.of("ours");
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  @Override
  public Took run(Load load) throws Exception {
    provider.declare(QUEUE, QueueSettings.ordered());
    for (int from = 0; from < load.messages(); from += 100) {
      var batch = new ArrayList<Message>();
      for (int i = from; i < Math.min(from + 100, load.messages()); i++) {
        batch.add(
            Message.of(SessionId.of("s" + i / burst % load.sessions()), Payload.text("m" + i)));
      }
      provider.send(QUEUE, batch);
    }
    var started = Took.now();
    var stages = new ArrayList<CompletableFuture<Void>>();
    int done = 0;
    while (done < load.messages()) {
      if (provider.sessions(QUEUE).acceptNext(Owner.of("bench"), PATIENCE)
          instanceof AcceptResult.Accepted accepted) {
        try (var session = accepted.session()) {
          done += drain(session, stages);
          if (!session.closesBehindSettlements()) {
            await(stages);
          }
        }
      }
    }
    await(stages);
    return started.since();
  }

  private static void await(List<CompletableFuture<Void>> stages) {
    CompletableFuture.allOf(stages.toArray(new CompletableFuture<?>[0])).join();
    stages.clear();
  }

  private int drain(HeldSession session, List<CompletableFuture<Void>> stages)
      throws InterruptedException {
    int done = 0;
    while (done < burst) {
      var batch = session.receive(prefetch, PATIENCE);
      var settled =
          batch.stream()
              .map(delivery -> new Settled(delivery.sequence(), Settlement.complete()))
              .toList();
      stages.add(session.settle(settled).toCompletableFuture());
      done += batch.size();
    }
    return done;
  }
}
