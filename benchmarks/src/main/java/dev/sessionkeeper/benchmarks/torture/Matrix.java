package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.benchmarks.torture.Row.Needs;
import java.util.List;

/** All rows of the fault matrix. */
final class Matrix {
  private static final String ALL_KEPT = "all ten promises of the fault run hold";

  /** The load of a row: enough for a fault to interrupt, and little enough for a shared machine. */
  private static final String SMALL = " --processes 2 --senders 2 --rate 150 --lock 3 --every 2";

  private Matrix() {}

  static List<Row> all() {
    return List.of(
        Row.run(
                "kill-node",
                "kill -9 of consumers and senders under load",
                ALL_KEPT,
                "--faults kill,sender --seconds 16" + SMALL)
            .quick(),
        Row.run(
            "kill-statement",
            "kill -9 of a consumer right before or after a statement",
            ALL_KEPT,
            "--faults statement --seconds 25" + SMALL),
        Row.run(
            "kill-database",
            "kill -9 or SIGQUIT of PostgreSQL under load",
            ALL_KEPT,
            "--faults database --seconds 24" + SMALL),
        Row.run(
            "cut-connections",
            "single connections cut, at once, after a statement or COMMIT was sent, or by"
                + " pg_terminate_backend",
            ALL_KEPT,
            "--faults cut --seconds 20 --every 0.7 --processes 2 --senders 2 --rate 150 --lock 3"),
        Row.run(
            "freeze-owner",
            "SIGSTOP of a lease owner for three leases",
            "another owner goes on, the old one is refused; " + ALL_KEPT,
            "--faults freeze --freeze 9.5 --seconds 24" + SMALL),
        Row.run(
            "partition",
            "node and database hear nothing of each other; later all of it arrives",
            "another owner goes on, late statements are refused; " + ALL_KEPT,
            "--faults isolate --freeze 9.5 --seconds 24" + SMALL),
        Row.run(
            "slow-network",
            "data takes up to a second between node and database",
            ALL_KEPT,
            "--faults slow,cut --seconds 20" + SMALL),
        Row.run(
            "no-connections",
            "the database has no connection left, and open ones are cut",
            ALL_KEPT,
            "--faults connections --seconds 20" + SMALL),
        Row.run(
            "lock-order",
            "a foreign transaction locks the product's tables in another order",
            "who loses a deadlock tries again; " + ALL_KEPT,
            // A claim that a lock holds up for longer than its lease uses an attempt for nothing.
            "--faults locks --seconds 16" + SMALL + " --lock 10"),
        Row.run(
            "clock-jumps",
            "wall clocks of owners jump by up to a day, forth and back",
            "node clocks do not matter; " + ALL_KEPT,
            "--faults clock,kill --seconds 20" + SMALL,
            Needs.FAKE_CLOCK),
        Row.run(
            "full-disk",
            "the disk of the database is full for some seconds",
            "sends are refused meanwhile; " + ALL_KEPT,
            "--faults disk --every 6 --seconds 24 --processes 2 --senders 2 --rate 150 --lock 3",
            Needs.SMALL_DISK),
        Row.run(
            "heavy-load",
            "everything at once, with hundreds of sessions in hand",
            ALL_KEPT,
            "--load heavy --every 2 --seconds 40"),
        Row.scene(
            "kill-migration",
            "kill -9 in the middle of the schema migration, and restart",
            "the next process completes it, and the queue works",
            KillMigration::run),
        Row.scene(
            "promotion",
            "an asynchronous standby that lacks the last seconds is promoted",
            "what reached the standby or came later is handled in order; no session stands still",
            PromoteStandby::run),
        Row.scene(
            "one-key",
            "1,000 producers in four processes send to one session at once",
            "each message is handled once, in the order of its producer",
            ThousandProducers::run),
        Row.scene(
                "shutdown-without-store",
                "a server is told to end while its database stands still",
                "it ends within its deadline",
                ShutdownWithoutStore::run)
            .quick(),
        Row.tests(
            "kill-intake",
            "kill -9 of webhook intake and relay between two statements",
            "everything is carried over, once and in order",
            "server",
            "KilledProcessTest"),
        Row.tests(
            "freeze-server",
            "one of two servers stands still in its transactions",
            "the other one answers within 15 s",
            "server",
            "FrozenServerTest"),
        Row.tests(
            "hang-database",
            "the database stands still under calls",
            "every call ends by its deadline with a true answer",
            "server",
            "FrozenDatabaseTest,DeadlineTest"),
        Row.tests(
            "hung-commit",
            "a COMMIT that does not end",
            "it delays its own session only",
            "postgres",
            "HungCommitTest"),
        Row.tests(
            "small-pool",
            "handlers hold every connection of the pool",
            "leases are renewed meanwhile",
            "postgres",
            "SmallPoolTest"),
        Row.tests(
            "isolation-levels",
            "the application's default isolation is repeatable read or serializable",
            "a serialisation failure is tried again or told; nothing is missed",
            "postgres",
            "IsolationLevelTest"),
        Row.tests(
            "faulty-receiver",
            "a receiver applies and times out, answers 500, truncates, drips, floods with 429",
            "each record is applied once",
            "registry",
            "DeliveryTest"),
        Row.tests(
            "revoked-credentials",
            "keys are removed or narrowed under open streams and long polls",
            "streams end, calls are refused, no lease is taken",
            "server",
            "RevocationTest"),
        Row.tests(
            "aborted-uploads",
            "bodies that stop, lie about their length or drip",
            "4xx or a closed connection, nothing stored, others undisturbed",
            "server",
            "HostileRequestsTest,HostileRunTest"),
        Row.tests(
            "poison-messages",
            "messages whose handler always fails",
            "a dead letter after the allowed attempts; the session goes on",
            "memory",
            "PoisonTest"),
        Row.tests(
            "frozen-job-owner",
            "the owner of a job stands still; clocks jump",
            "each slot takes effect once, another owner takes over",
            "jobs",
            "FrozenOwnerTest,ClockExcursionTest"));
  }
}
