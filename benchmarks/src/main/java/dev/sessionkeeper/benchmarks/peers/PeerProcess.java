package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.CpuTime;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The process of a {@link JavaPeer}: runs its turns, and ends when its input ends. */
final class PeerProcess implements FreshDatabases {
  private static final PrintStream OUT = System.out;

  private final Map<String, String> environment;
  private String database = "";

  private PeerProcess(Map<String, String> environment) {
    this.environment = environment;
  }

  public static void main(String[] args) throws Exception {
    var databases = new PeerProcess(System.getenv());
    databases.answer(new Arms(databases).named(args[0]));
    System.exit(0); // Some peers leave threads running.
  }

  private void answer(Peer peer) throws Exception {
    var asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = asked.readLine(); line != null; line = asked.readLine()) {
      var words = line.split(" ", -1);
      database = words[4];
      System.gc();
      turn(peer, words[0], Double.parseDouble(words[1]), Integer.parseInt(words[2]), words[3]);
    }
  }

  private static void turn(Peer peer, String mode, double amount, int keys, String seconds)
      throws Exception {
    var time = Duration.ofMillis((long) (Double.parseDouble(seconds) * 1000));
    if (mode.equals("drain")) {
      var drained = peer.drain(new Peer.Backlog((int) amount, keys, time));
      say(
          mode,
          (double) drained.sent(),
          drained.fillSeconds(),
          (double) drained.handled(),
          drained.startSeconds(),
          drained.drainSeconds(),
          drained.cpuSeconds(),
          (double) drained.violations());
    } else {
      var delays = peer.delays(new Peer.Pace(amount, keys, time));
      say(
          mode,
          delays.reached(),
          delays.p50Millis(),
          delays.p99Millis(),
          (double) delays.violations());
    }
  }

  private static void say(String word, double... numbers) throws IOException {
    var line = new StringBuilder(word);
    for (double number : numbers) {
      line.append(String.format(Locale.ROOT, " %s", number));
    }
    OUT.println(line);
    OUT.flush();
  }

  @Override
  public DataSource fresh() {
    var source = new PGSimpleDataSource();
    source.setServerNames(new String[] {environment.get("PGHOST")});
    source.setPortNumbers(new int[] {Integer.parseInt(environment.get("PGPORT"))});
    source.setDatabaseName(database);
    source.setUser(environment.get("PGUSER"));
    source.setPassword(environment.get("PGPASSWORD"));
    return source;
  }

  @Override
  public double cpuSeconds() {
    return CpuTime.secondsOf(Long.parseLong(environment.get(Databases.PID)));
  }
}
