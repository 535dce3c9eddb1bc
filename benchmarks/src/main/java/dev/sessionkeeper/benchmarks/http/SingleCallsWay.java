package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.LeaseClient;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The four single calls of the HTTP API: lease, receive, settle, release. */
record SingleCallsWay(KeeperClient client, HttpCalls http) implements Way {
  private static final Duration PATIENCE = Duration.ofMillis(100);
  private static final int MOST_MESSAGES = 100;

  @Override
  public String name() {
    return "single calls";
  }

  @Override
  public void declare(QueueName queue) {
    http.declare(queue);
  }

  @Override
  public void send(QueueName queue, Iterable<Outgoing> messages) {
    http.send(queue, messages);
  }

  @Override
  public int consumers() {
    return 16;
  }

  @Override
  public Consuming consume(QueueName queue) {
    return (handler, completed) ->
        client
            .queue(queue.value())
            .acceptNext("bench", PATIENCE)
            .ifPresent(lease -> completed.accept(serve(lease, handler)));
  }

  private static int serve(LeaseClient lease, Consumer<Supplier<String>> handler) {
    try (lease) {
      var messages = lease.receive(MOST_MESSAGES, Duration.ZERO);
      messages.forEach(each -> handler.accept(() -> each.body().toString()));
      lease.complete(messages);
      return messages.size();
    }
  }
}
