package dev.sessionkeeper.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.github.Ordering;
import dev.sessionkeeper.github.OrderingScope;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.github.ReadResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class GitHubDemoTest {
  private static final GitHubDemo.Plan SMALL = new GitHubDemo.Plan(4, 10, Duration.ofMinutes(2));

  private final List<String> shown = new CopyOnWriteArrayList<>();

  @Test
  @Timeout(200)
  void everyEventOfEveryPullRequestArrivesOnceAndInOrder() throws Exception {
    try (var server = TemporaryServer.start();
        var client = KeeperClient.of(server.address())) {
      var demo = new GitHubDemo(client, server.secret(), SMALL, this::show);
      assertThat(demo.run(server.endpointPort())).as(String.join("\n", shown)).isTrue();
    }
    assertThat(shown.getLast())
        .startsWith("Order held: 40 of 40 completed")
        .contains("0 violations")
        .contains("40 deliveries accepted, 4 recognised as sent twice");
  }

  private void show(String block, boolean important) {
    if (important) {
      shown.add(block);
    }
  }

  @Test
  void allEventsOfAPullRequestAreOfOneSession() {
    for (int step = 0; step < 12; step++) {
      var delivery = GitHubBurst.delivery("run", 5, step);
      var read =
          ReadDelivery.readAgain(
              new RawDelivery(
                  Optional.of(delivery.type()),
                  Optional.of(delivery.id()),
                  Optional.empty(),
                  Optional.of("application/json"),
                  delivery.payload()));
      var event = ((ReadResult.Accepted) read).event();
      assertThat(Ordering.by(OrderingScope.ENTITY).sessionOf(event).orElseThrow().value())
          .isEqualTo(GitHubBurst.sessions(6).getLast());
    }
  }
}
