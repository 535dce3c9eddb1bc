package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.store.Database;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One contestant on one database, in one of the processes that work on it. One thread gives
 * commands.
 */
final class Turn {
  private static final int MOST_OPEN = 30_000;
  private static final int FILL_BATCH = 1000;
  private static final int SOME_SESSIONS = 100;

  private final Wish wish;
  private final DataSource source;
  private final @Nullable Arm arm;
  private final Load load;
  private final List<Thread> producers = new ArrayList<>();
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private Optional<Disturb> disturbing = Optional.empty();
  private volatile boolean isOver;

  private Turn(Wish wish, DataSource source, @Nullable Arm arm, Load load) {
    this.wish = wish;
    this.source = source;
    this.arm = arm;
    this.load = load;
  }

  /**
   * The parameters of a turn.
   *
   * @param kind of the contestant
   * @param worker the number of the worker; the first one creates what is missing
   * @param senders of each process
   * @param batch messages per send
   * @param board the file of the scoreboard
   * @param isTraced whether every message is recorded
   */
  record Wish(
      Arms kind,
      String database,
      int worker,
      int workers,
      int sessions,
      int senders,
      int batch,
      Path board,
      boolean isTraced) {
    String command() {
      return String.join(
          " ",
          "open",
          kind.name(),
          database,
          Integer.toString(worker),
          Integer.toString(workers),
          Integer.toString(sessions),
          Integer.toString(senders),
          Integer.toString(batch),
          board.toString(),
          Boolean.toString(isTraced));
    }

    static Wish parse(String... words) {
      return new Wish(
          Arms.valueOf(words[1]),
          words[2],
          Integer.parseInt(words[3]),
          Integer.parseInt(words[4]),
          Integer.parseInt(words[5]),
          Integer.parseInt(words[6]),
          Integer.parseInt(words[7]),
          Path.of(words[8]),
          Boolean.parseBoolean(words[9]));
    }

    /** Returns the same parameters for another worker. */
    Wish of(int other) {
      return new Wish(kind, database, other, workers, sessions, senders, batch, board, isTraced);
    }

    int allSenders() {
      return workers * senders;
    }

    Scoreboard scoreboard() throws java.io.IOException {
      return Scoreboard.shared(board, workers, sessions * allSenders());
    }

    Path trace() {
      return board.resolveSibling(board.getFileName() + "." + worker);
    }
  }

  /** Returns a turn without an open contestant. */
  static Turn none() {
    return new Turn(
        new Wish(Arms.BARE, "", 0, 1, 1, 1, 1, Path.of(""), false),
        new PGSimpleDataSource(),
        null,
        new Load(1, 1));
  }

  static Turn open(DatabaseAddress server, Wish wish) throws Exception {
    var source = server.withDatabase(wish.database).source();
    var trace = wish.isTraced ? Optional.of(Trace.of(wish.trace())) : Optional.<Trace>empty();
    var load = new Load(wish.sessions, wish.allSenders(), wish.scoreboard(), wish.worker, trace);
    return new Turn(wish, source, wish.kind.open(source, wish), load);
  }

  Load load() {
    return load;
  }

  private Arm arm() {
    if (arm == null) {
      throw new IllegalStateException("No turn is open");
    }
    return arm;
  }

  private KeeperArm product() {
    return (KeeperArm) arm();
  }

  void consume() throws Exception {
    arm().consume(load);
  }

  /** Produces in a closed loop: producers stop while too many messages are open. */
  void produce() {
    start(
        sender -> {
          try (var producer = arm().producer()) {
            while (!isOver) {
              if (load.open() > MOST_OPEN) {
                Thread.sleep(1);
              } else {
                send(producer, sender, wish.batch);
              }
            }
          }
        });
  }

  /** Sends so many messages per second, over all senders of this process. */
  void pace(double perSecond) {
    long every = (long) (wish.senders * wish.batch * 1e9 / perSecond);
    start(
        sender -> {
          try (var producer = arm().producer()) {
            long next = System.nanoTime() + ThreadLocalRandom.current().nextLong(every);
            while (!isOver) {
              LockSupport.parkNanos(next - System.nanoTime());
              send(producer, sender, wish.batch);
              next += every;
            }
          }
        });
  }

  /** Sends so many messages at full speed. */
  void fill(int messages) throws Exception {
    try (var producer = arm().producer()) {
      for (int i = 0; i < messages; i += FILL_BATCH) {
        send(producer, wish.worker * wish.senders, Math.min(FILL_BATCH, messages - i));
      }
    }
  }

  /** One step of a sender. */
  private interface Sending {
    void run(int sender) throws Exception;
  }

  private void start(Sending sending) {
    for (int i = 0; i < wish.senders; i++) {
      int sender = wish.worker * wish.senders + i;
      producers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      sending.run(sender);
                    } catch (Exception e) {
                      failure.set(e);
                    }
                  }));
    }
  }

  private void send(Arm.Producer producer, int sender, int count) throws Exception {
    var keys = wish.kind.sessions(count, wish);
    var bodies = new byte[count][];
    for (int i = 0; i < count; i++) {
      bodies[i] = load.next(sender, keys[i]);
    }
    producer.send(keys, bodies);
    load.addSent(count);
  }

  void disturb() {
    disturbing = Optional.of(Disturb.start(product(), load));
  }

  /**
   * Returns how long a first page of 1,000 sessions, one of 100, and one session by its name took,
   * in milliseconds.
   */
  String look() {
    var product = product();
    var search = new SearchSessions(Database.of(source));
    long began = System.nanoTime();
    int many = page(product, Page.Request.MAX_LIMIT);
    long afterMany = System.nanoTime();
    int some = page(product, SOME_SESSIONS);
    long afterSome = System.nanoTime();
    var one = search.find(product.queue(), product.session(wish.sessions / 2));
    long end = System.nanoTime();
    if (many != Page.Request.MAX_LIMIT || some != SOME_SESSIONS || one.isEmpty()) {
      throw new IllegalStateException("The pages are not full: " + many + " and " + some);
    }
    return String.join(
        " ",
        "look",
        Double.toString((afterMany - began) / 1e6),
        Double.toString((afterSome - afterMany) / 1e6),
        Double.toString((end - afterSome) / 1e6));
  }

  private static int page(KeeperArm product, int limit) {
    return product
        .provider()
        .inspect(product.queue(), Optional.empty(), Page.Request.first(limit))
        .items()
        .size();
  }

  /** Stops producers and disturbers; consumers continue. */
  void stop() throws Exception {
    isOver = true;
    for (var producer : producers) {
      producer.join();
    }
    producers.clear();
    disturbing.ifPresent(Disturb::close);
    disturbing = Optional.empty();
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  void leave() {
    arm().stopConsuming();
  }

  void close() throws Exception {
    stop();
    arm().close();
  }
}
