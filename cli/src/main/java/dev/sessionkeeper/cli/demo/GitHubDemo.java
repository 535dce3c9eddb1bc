package dev.sessionkeeper.cli.demo;

import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.github.GitHubSignature;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends the events of many pull requests as GitHub would, some deliveries twice, to a server that
 * pushes them to an endpoint that sometimes fails; then checks what arrived.
 */
public final class GitHubDemo {
  /**
   * The size of the demo, and its time limits.
   *
   * @param patience for the whole demo, and for a pause in which nothing arrives
   */
  public record Plan(int pulls, int events, Duration patience) {}

  private static final Duration FRAME = Duration.ofMillis(120);
  private static final Duration FIRST_ARRIVAL = Duration.ofSeconds(20);
  private static final int SENDERS = 8;
  private static final int EVERY_TENTH = 10;

  private final KeeperClient client;
  private final String secret;
  private final Plan plan;
  private final Demo.Screen screen;
  private final TimeSource time = TimeSource.system();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger duplicates = new AtomicInteger();
  private final Judge judge;

  public GitHubDemo(KeeperClient client, String secret, Plan plan, Demo.Screen screen) {
    this.client = client;
    this.secret = secret;
    this.plan = plan;
    this.screen = screen;
    this.judge = new Judge(GitHubBurst.sessions(plan.pulls()), plan.events());
  }

  /** Runs the demo. Returns whether everything arrived and nothing out of order. */
  private boolean run(FlakyEndpoint endpoint) throws InterruptedException, ExecutionException {
    screen.draw(
        plan.pulls()
            + " pull requests with "
            + plan.events()
            + " events each, signed, some sent twice, go to "
            + client.server()
            + "; the bot's endpoint "
            + endpoint.url()
            + " fails one request in five.",
        true);
    try (var senders = Executors.newFixedThreadPool(SENDERS)) {
      var sending = Thread.ofVirtual().start(() -> drawUntilInterrupted(endpoint));
      try {
        sendAll(senders);
      } finally {
        sending.interrupt();
        sending.join();
      }
    }
    boolean done = watch(endpoint);
    return verdict(done, endpoint);
  }

  /**
   * Sends the events of one pull request one after the other, and many pull requests concurrently.
   */
  private void sendAll(java.util.concurrent.ExecutorService senders)
      throws InterruptedException, ExecutionException {
    var run = "demo-" + Long.toString(time.instant().toEpochMilli(), 36);
    for (int step = 0; step < plan.events(); step++) {
      var all = new ArrayList<Future<?>>();
      for (int pull = 0; pull < plan.pulls(); pull++) {
        var delivery = GitHubBurst.delivery(run, pull, step);
        boolean twice = (pull + step) % EVERY_TENTH == 0;
        all.add(
            senders.submit(
                () -> {
                  post(delivery);
                  if (twice) {
                    post(delivery);
                  }
                }));
      }
      for (var one : all) {
        one.get();
      }
    }
  }

  private void post(GitHubBurst.Delivery delivery) {
    var answer =
        client.postBytes(
            "/webhooks/github",
            delivery.payload(),
            Map.of(
                "Content-Type",
                "application/json",
                "X-GitHub-Event",
                delivery.type(),
                "X-GitHub-Delivery",
                delivery.id(),
                "X-Hub-Signature-256",
                GitHubSignature.sign(secret, delivery.payload())));
    (answer.path("duplicate").asBoolean(false) ? duplicates : accepted).incrementAndGet();
  }

  private void drawUntilInterrupted(FlakyEndpoint endpoint) {
    try {
      while (true) {
        screen.draw(frame(endpoint), false);
        Thread.sleep(FRAME);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean watch(FlakyEndpoint endpoint) throws InterruptedException {
    long begun = time.nanoTime();
    while (!judge.isDone() && time.since(begun).compareTo(plan.patience()) < 0) {
      if (endpoint.requests() == 0 && time.since(begun).compareTo(FIRST_ARRIVAL) > 0) {
        return false;
      }
      screen.draw(frame(endpoint), false);
      Thread.sleep(FRAME);
    }
    return judge.isDone();
  }

  private String frame(FlakyEndpoint endpoint) {
    return "["
        + judge.map()
        + "]\n"
        + accepted.get()
        + " accepted, "
        + endpoint.requests()
        + " pushed, "
        + judge.summary();
  }

  private boolean verdict(boolean done, FlakyEndpoint endpoint) {
    judge.violations().stream().limit(10).forEach(violation -> screen.draw(violation, true));
    if (endpoint.requests() == 0) {
      screen.draw(
          "NOTHING ARRIVED: the temporary server did not push to " + endpoint.url() + ".", true);
      return false;
    }
    boolean good = done && judge.violations().isEmpty();
    screen.draw(
        (good ? "Order held: " : done ? "ORDER BROKEN: " : "NOT FINISHED IN TIME: ")
            + judge.summary()
            + "; "
            + accepted.get()
            + " deliveries accepted, "
            + duplicates.get()
            + " recognised as sent twice.",
        true);
    return good;
  }

  /** Starts the endpoint on this port and runs. */
  public boolean run(int port) throws Exception {
    try (var endpoint = FlakyEndpoint.start(port, judge::saw)) {
      return run(endpoint);
    }
  }
}
