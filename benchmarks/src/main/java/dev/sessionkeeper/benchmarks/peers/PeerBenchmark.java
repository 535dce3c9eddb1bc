package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measures the PostgreSQL provider, through the whole processor, beside other systems, each on its
 * own engine: fill, then drain 100,000 messages of 256 bytes with 1,000 keys and a handler that
 * does nothing; then delays from send to handler at 1,000 messages per second. Peers take turns
 * within one run; only the ratio counts. Order by key is checked in every turn.
 *
 * <p>{@code PeerBenchmark [repetitions] [messages] [cap seconds] [peer…]}; without peers all of
 * them. The product always takes part. {@code -Dcells=drain} or {@code -Dcells=delays} runs only
 * that.
 */
public final class PeerBenchmark {
  private static final PrintStream OUT = System.out;
  private static final int KEYS = 1000;
  private static final Duration WARM_UP = Duration.ofSeconds(30);
  private static final Duration WARM_UP_CAP = Duration.ofSeconds(3);
  private static final Duration PACED = Duration.ofSeconds(10);
  private static final double PER_SECOND = 1000;

  private final Databases databases;
  private final List<Peer> peers;

  PeerBenchmark(Databases databases, List<Peer> peers) {
    this.databases = databases;
    this.peers = peers;
  }

  public static void main(String[] args) throws Exception {
    int repetitions = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    int messages = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;
    int cap = args.length > 2 ? Integer.parseInt(args[2]) : 25;
    var wanted = args.length > 3 ? List.of(args).subList(3, args.length) : List.<String>of();
    var cells = System.getProperty("cells", "drain delays");
    try (var postgres = EmbeddedPostgres.temporary()) {
      var databases = new Databases(postgres);
      var all = new Peers(databases, NodeFolder.prepare()).all();
      var benchmark = new PeerBenchmark(databases, chosen(all, wanted));
      var backlog = new Peer.Backlog(messages, KEYS, Duration.ofSeconds(cap));
      if (cells.contains("drain")) {
        OUT.println(new Report(benchmark.drains(backlog, repetitions)).table());
      }
      if (cells.contains("delays")) {
        benchmark.delays(new Peer.Pace(PER_SECOND, KEYS, PACED)).forEach(OUT::println);
      }
    }
    System.exit(0); // Some peers leave threads running.
  }

  private static List<Peer> chosen(List<Peer> all, List<String> wanted) {
    var names = all.stream().map(Peer::name).toList();
    for (var name : wanted) {
      if (!names.contains(name)) {
        throw new IllegalArgumentException("A peer must be one of " + names + ", was " + name);
      }
    }
    return all.stream()
        .filter(peer -> wanted.isEmpty() || peer.goal() == 0 || wanted.contains(peer.name()))
        .filter(PeerBenchmark::canRun)
        .toList();
  }

  private static boolean canRun(Peer peer) {
    peer.missing().ifPresent(why -> OUT.println(peer.name() + ": not run: " + why));
    return peer.missing().isEmpty();
  }

  /** Returns the results of every peer, in turns. */
  Map<Peer, List<Peer.Drained>> drains(Peer.Backlog backlog, int repetitions) throws Exception {
    for (var peer : peers) {
      warmUp(peer, new Peer.Backlog(backlog.messages(), backlog.keys(), WARM_UP_CAP));
    }
    var all = new LinkedHashMap<Peer, List<Peer.Drained>>();
    for (int i = 0; i < repetitions; i++) {
      for (var peer : peers) {
        var drained = turn(peer, backlog);
        OUT.println(Report.turn(i + 1, peer, drained));
        all.computeIfAbsent(peer, any -> new ArrayList<>()).add(drained);
      }
    }
    return all;
  }

  /** Runs turns that do not count, until the code of a peer in this process is compiled. */
  private void warmUp(Peer peer, Peer.Backlog backlog) throws Exception {
    long end = System.nanoTime() + WARM_UP.toNanos();
    while (peer.warmsUp() && System.nanoTime() < end) {
      turn(peer, backlog);
    }
  }

  private Peer.Drained turn(Peer peer, Peer.Backlog backlog) throws Exception {
    databases.clear();
    System.gc();
    return peer.drain(backlog);
  }

  /** Measures delays; a peer that cannot reach the rate gets a tenth of its own rate. */
  List<String> delays(Peer.Pace pace) throws Exception {
    var lines = new ArrayList<String>();
    for (var peer : peers) {
      databases.clear();
      System.gc();
      double asked = pace.perSecond();
      var delays = peer.delays(pace);
      if (delays.reached() < 0.9 * asked) {
        databases.clear();
        asked = Math.max(1, delays.reached() / 10);
        delays = peer.delays(new Peer.Pace(asked, pace.keys(), pace.window()));
      }
      lines.add(
          String.format(
              Locale.ROOT,
              "%-26s at %5.0f msg/s: p50 %.2f ms, p99 %.2f ms; out of order %d",
              peer.name(),
              asked,
              delays.p50Millis(),
              delays.p99Millis(),
              delays.violations()));
    }
    return lines;
  }
}
