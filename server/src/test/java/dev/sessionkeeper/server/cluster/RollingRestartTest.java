package dev.sessionkeeper.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.testkit.CheckConservation;
import dev.sessionkeeper.testkit.CheckOrder;
import dev.sessionkeeper.testkit.CheckOwners;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two servers on one database are restarted one after the other under load. */
class RollingRestartTest {
  private static final String QUEUE = "work";
  private static final int PRODUCERS = 3;
  private static final int CONSUMERS = 6;
  private static final int STRIDE = 150;

  private final List<Future<?>> producers = new ArrayList<>();
  private final List<Future<?>> running = new ArrayList<>();
  private final List<KeeperClient> clients = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<String> sessions = IntStream.range(0, 24).mapToObj(i -> "pr/" + i).toList();
  private final Workload work = new Workload(QUEUE, sessions);
  private Node one;
  private Node two;

  @BeforeEach
  void start() {
    var database = TestDatabase.create();
    one = new Node(database);
    two = new Node(database);
  }

  @AfterEach
  void stop() {
    work.stopSending();
    work.stopConsuming();
    threads.shutdown();
    clients.forEach(KeeperClient::close);
    one.close();
    two.close();
  }

  private KeeperClient client() {
    List<URI> both = List.of(one.address(), two.address());
    clients.add(KeeperClient.of(both));
    return clients.get(clients.size() - 1);
  }

  @Test
  void losesNothingAndBreaksNoOrder() throws Exception {
    client().queue(QUEUE).declare(QueueSettings.ordered().withMaxDeliveryCount(1000));
    for (int i = 0; i < PRODUCERS; i++) {
      int first = i;
      var client = client();
      producers.add(threads.submit(() -> work.produce(client, first, PRODUCERS)));
    }
    for (int i = 0; i < CONSUMERS; i++) {
      var name = "consumer-" + i;
      var client = client();
      running.add(threads.submit(() -> work.consume(client, name)));
    }
    var operator = client();
    producers.add(threads.submit(() -> work.operate(operator)));

    goesOn();
    one.restart();
    goesOn();
    two.restart();
    goesOn();

    work.stopSending();
    for (var producer : producers) {
      producer.get();
    }
    await().atMost(Duration.ofSeconds(60)).until(() -> depth() == 0);
    work.stopConsuming();
    for (var each : running) {
      each.get();
    }
    var events = work.history().events();
    assertThat(CheckOrder.of(events)).isEmpty();
    assertThat(CheckOwners.of(events)).isEmpty();
    assertThat(CheckConservation.of(events, Set.of(), Set.of())).isEmpty();
    assertThat(work.completed()).isEqualTo(work.sent());
    assertThat(work.lostWithoutReason()).isEmpty();
    assertThat(work.acts()).isGreaterThan(10);
    System.out.printf(
        "%d messages, %d acts of an operator, %d calls with unknown outcome%n",
        work.sent(), work.acts(), work.unknown());
  }

  /** Waits until some more messages were sent and completed, so both kinds of work progress. */
  private void goesOn() {
    int sent = work.sent() + STRIDE;
    int completed = work.completed() + STRIDE;
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              Stream.concat(running.stream(), producers.stream())
                  .filter(Future::isDone)
                  .forEach(RollingRestartTest::rethrow);
              return work.sent() > sent && work.completed() > completed;
            });
  }

  private static void rethrow(Future<?> ended) {
    try {
      ended.get();
    } catch (Exception e) {
      throw new AssertionError("A worker has ended", e);
    }
  }

  private long depth() {
    return clients.get(0).get("/queues/" + QUEUE, Map.of()).path("depth").asLong();
  }
}
