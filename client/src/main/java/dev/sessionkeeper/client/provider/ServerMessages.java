package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.client.provider.ServerCalls.About;
import dev.sessionkeeper.spi.MessageSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Messages of an unordered queue, over HTTP. */
final class ServerMessages implements MessageSource {
  private static final int MOST_MESSAGES = Limits.DEFAULT.maxBatch();

  private final ServerCalls calls;
  private final QueueName queue;
  private final String path;

  ServerMessages(ServerCalls calls, QueueName queue, String path) {
    this.calls = calls;
    this.queue = queue;
    this.path = path;
  }

  @Override
  public List<Receipted> receive(int max, Duration wait) throws InterruptedException {
    var body = Wire.object().put("max", Math.min(max, MOST_MESSAGES));
    body.put("wait", ServerSessions.shortest(wait).toString());
    var answer = calls.waiting(() -> calls.post(About.queue(queue), path + "/receive", body));
    return Wire.messages(answer, "messages").stream()
        .map(
            each ->
                new Receipted(
                    each.delivery(),
                    each.json().path("receipt").asString(),
                    Instant.parse(each.json().path("lockedUntil").asString())))
        .toList();
  }

  @Override
  public CompletionStage<Void> settle(String receipt, Settlement settlement) {
    try {
      var body = Wire.object();
      body.putArray("settlements").add(Wire.settlement(settlement).put("receipt", receipt));
      var done = Wire.read(calls.post(About.queue(queue), path + "/settlements", body));
      return done.path("settlements").path(0).path("settled").asBoolean(false)
          ? CompletableFuture.completedFuture(null)
          : CompletableFuture.failedFuture(new KeeperException.LockLost("the message", 0));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public Instant renew(String receipt) {
    var body = Wire.object().put("receipt", receipt);
    var renewed = Wire.read(calls.post(About.queue(queue), path + "/renewals", body));
    return Instant.parse(renewed.path("lockedUntil").asString());
  }
}
