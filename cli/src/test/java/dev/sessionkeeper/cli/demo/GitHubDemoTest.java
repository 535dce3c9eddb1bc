package dev.sessionkeeper.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.github.Ordering;
import dev.sessionkeeper.github.OrderingScope;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.github.ReadResult;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
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

  @Test
  @Timeout(200)
  void theDemoTouchesNoOtherServerAndItsLogDoesNotDisturbTheDisplay() throws Exception {
    var touched = new AtomicInteger();
    var other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.createContext(
        "/",
        exchange -> {
          touched.incrementAndGet();
          exchange.sendResponseHeaders(500, -1);
          exchange.close();
        });
    other.start();
    try {
      var builder =
          new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-cp",
              System.getProperty("java.class.path"),
              "-Dlogback.configurationFile=" + productionLog(),
              "dev.sessionkeeper.cli.Keeper",
              "demo",
              "github",
              "--pulls",
              "3",
              "--events",
              "4");
      builder.environment().put("GITHUB_WEBHOOK_SECRET", "the secret of the real server");
      builder.environment().put("KEEPER_URL", "http://127.0.0.1:" + other.getAddress().getPort());
      var process = builder.redirectErrorStream(true).start();
      try (var said = process.inputReader()) {
        var lines = said.lines().toList();
        assertThat(process.waitFor()).as(String.join("\n", lines)).isZero();
        assertThat(lines).anyMatch(line -> line.startsWith("Order held: 12 of 12"));
        assertThat(lines).noneMatch(line -> line.contains("\"level\""));
      }
      assertThat(touched).hasValue(0);
    } finally {
      other.stop(0);
    }
  }

  /** Returns the product's own log, not the log of the tests. */
  private static String productionLog() throws Exception {
    return Objects.requireNonNull(KeeperClient.class.getClassLoader().getResource("logback.xml"))
        .toURI()
        .toString();
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
