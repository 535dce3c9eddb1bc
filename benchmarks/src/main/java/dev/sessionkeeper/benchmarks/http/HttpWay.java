package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.LeaseClient;
import dev.sessionkeeper.client.QueueClient.Outgoing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** The Java client and a server over loopback. */
record HttpWay(KeeperClient client) implements Way {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Override
  public String name() {
    return "http";
  }

  @Override
  public void declare(QueueName queue) {
    client.queue(queue.value()).declare(QueueSettings.ordered());
  }

  @Override
  public void send(QueueName queue, int first, int sessions, int count) {
    var messages = new ArrayList<Outgoing>(count);
    for (int i = first; i < first + count; i++) {
      messages.add(
          new Outgoing(
              Optional.empty(),
              Optional.of("bench/" + i % sessions),
              JSON.readTree(DirectWay.body(i)),
              Map.of()));
    }
    client.queue(queue.value()).send(messages);
  }

  @Override
  public int consume(QueueName queue, int most) {
    return client
        .queue(queue.value())
        .acceptNext("bench", Duration.ofMillis(100))
        .map(lease -> serve(lease, most))
        .orElse(0);
  }

  private static int serve(LeaseClient lease, int most) {
    try (lease) {
      var messages = lease.receive(most, Duration.ZERO);
      lease.complete(messages);
      return messages.size();
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
