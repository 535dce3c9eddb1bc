package dev.sessionkeeper.cli.demo;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.QueueClient;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/**
 * Sends to many sessions, lets several consumers work and fail, kills one of them, and checks the
 * order.
 */
public final class Demo {
  /** The size of a demo, and its time limit. */
  public record Plan(int sessions, int perSession, int consumers, Duration patience) {
    public static Plan small() {
      return new Plan(60, 25, 6, Duration.ofMinutes(2));
    }
  }

  /** Shows the progress; {@code important} lines also without a terminal. */
  @FunctionalInterface
  public interface Screen {
    void draw(String block, boolean important);
  }

  private static final Duration LOCK = Duration.ofSeconds(3);
  private static final Duration FRAME = Duration.ofMillis(120);

  private final KeeperClient client;
  private final Map<String, String> environment;
  private final Plan plan;
  private final Screen screen;
  private final String queueName;
  private final List<String> sessions;
  private final Judge judge;

  public Demo(KeeperClient client, Map<String, String> environment, Plan plan, Screen screen) {
    this.client = client;
    this.environment = environment;
    this.plan = plan;
    this.screen = screen;
    this.queueName = "demo-" + Long.toString(TimeSource.system().instant().toEpochMilli(), 36);
    this.sessions =
        IntStream.range(0, plan.sessions())
            .mapToObj(i -> "acme/shop/pull_request/" + (100 + i))
            .toList();
    this.judge = new Judge(sessions, plan.perSession());
  }

  /**
   * The result of a demo.
   *
   * @param isGood whether everything was handled and nothing out of order
   * @param repeated messages handled again because their first consumer died before its answer
   *     arrived
   */
  public record Result(
      boolean isGood,
      String queue,
      int expected,
      int completed,
      int failedAttempts,
      int repeated,
      List<String> violations) {}

  /** Runs the demo to its end. */
  public Result run() {
    var queue = client.queue(queueName);
    queue.declare(
        QueueSettings.ordered()
            .withLockDuration(LOCK)
            .withMaxDeliveryCount(100)
            .withPoisonPolicy(PoisonPolicy.DEAD_LETTER));
    screen.draw(
        plan.sessions()
            + " pull requests with "
            + plan.perSession()
            + " events each go to queue "
            + queueName
            + "; "
            + plan.consumers()
            + " consumers take them, fail now and then, and one is killed.",
        true);
    try {
      return verdict(work(queue));
    } finally {
      queue.delete();
    }
  }

  /** Sends and consumes; returns whether everything was handled in time. */
  private boolean work(QueueClient queue) {
    var stop = new AtomicBoolean();
    var threads = startWorkers(queue, stop);
    var victim =
        ConsumerProcess.start(client.servers(), environment, queueName, "the-victim", judge::saw);
    boolean done;
    try {
      done = watch(victim);
    } finally {
      victim.kill();
      stop.set(true);
      threads.forEach(Demo::join);
    }
    victim.awaitLastReport();
    return done;
  }

  private List<Thread> startWorkers(QueueClient queue, AtomicBoolean stop) {
    var threads = new ArrayList<Thread>();
    threads.add(Thread.ofVirtual().start(() -> produce(queue)));
    for (int i = 1; i < plan.consumers(); i++) {
      var worker = new ConsumeLikeAPerson(queue, "consumer-" + i, stop::get, judge::saw);
      threads.add(Thread.ofVirtual().start(worker));
    }
    return threads;
  }

  private void produce(QueueClient queue) {
    for (int i = 0; i < plan.perSession(); i++) {
      int index = i;
      queue.send(
          sessions.stream()
              .map(
                  session ->
                      QueueClient.Outgoing.text(session, "" + index).withId(session + "#" + index))
              .toList());
    }
  }

  /** Shows the progress until all is done; kills one consumer half-way. */
  private boolean watch(ConsumerProcess victim) {
    var time = TimeSource.system();
    long begun = time.nanoTime();
    boolean killed = false;
    long killedAt = begun;
    while (!judge.isDone() && time.since(begun).compareTo(plan.patience()) < 0) {
      if (killed
          && judge.isDoneButForTheDead()
          && time.since(killedAt).compareTo(LOCK.multipliedBy(3)) > 0) {
        return true;
      }
      if (!killed && judge.completed() > plan.sessions() * plan.perSession() / 3) {
        victim.kill();
        killed = true;
        killedAt = time.nanoTime();
        screen.draw(
            frame("a consumer was killed; its sessions come back when their leases end"), true);
      }
      screen.draw(frame(killed ? "one consumer is dead" : "all consumers are alive"), false);
      sleep();
    }
    return judge.isDone();
  }

  private String frame(String note) {
    return "[" + judge.map() + "]\n" + judge.summary() + " (" + note + ")";
  }

  private Result verdict(boolean done) {
    judge.violations().stream().limit(10).forEach(violation -> screen.draw(violation, true));
    boolean good = done && judge.violations().isEmpty();
    screen.draw(
        (good ? "Order held: " : done ? "ORDER BROKEN: " : "NOT FINISHED IN TIME: ")
            + judge.summary()
            + ".",
        true);
    return judge.result(good, queueName);
  }

  private static void sleep() {
    try {
      Thread.sleep(FRAME);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs the consumer process: reports on standard output until it is killed. */
  public static void consume(KeeperClient client, String queue, String name) {
    new ConsumeLikeAPerson(
            client.queue(queue), name, () -> false, handled -> System.out.println(handled.toLine()))
        .run();
  }
}
