package dev.sessionkeeper.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Keeps the side-by-side run working: small turns on real engines; rates are not judged. */
@Tag("slow")
final class PeerBenchmarkTest {
  private static final Peer.Backlog SMALL = new Peer.Backlog(1_600, 40, Duration.ofSeconds(30));
  private static final NodeFolder NO_NODE = new NodeFolder(Path.of(""), Optional.of("no node"));

  private static EmbeddedPostgres postgres;
  private static Databases databases;

  @BeforeAll
  static void start() {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
    databases = new Databases(postgres);
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @Test
  void theProductAndAPeerHandleEverythingInOrderAndAreReported() throws Exception {
    var turns = new LinkedHashMap<Peer, List<Peer.Drained>>();
    for (var name : List.of(Peers.PRODUCT, "artemis")) {
      var peer = new Arms(databases).named(name);
      var drained = peer.drain(SMALL);
      assertThat(drained.sent()).as(name).isEqualTo(SMALL.messages());
      assertThat(drained.isComplete()).as(name).isTrue();
      assertThat(drained.violations()).as(name).isZero();
      turns.put(peer, List.of(drained));
    }
    assertThat(new Report(turns).table()).contains("| artemis |").contains(">= 3");
  }

  @Test
  void thePeersOfTheRunHaveAProcessOfTheirOwnThatTakesTurnAfterTurn() throws Exception {
    var product = named(Peers.PRODUCT);
    for (int turn = 0; turn < 2; turn++) {
      var drained = product.drain(SMALL);
      assertThat(drained.sent()).isEqualTo(SMALL.messages());
      assertThat(drained.isComplete()).isTrue();
      assertThat(drained.violations()).isZero();
      assertThat(drained.cpuSeconds()).isPositive();
    }
  }

  @Test
  void aPeerOnTheSameServerLeavesNoDatabaseBehind() throws Exception {
    assertThat(new Arms(databases).named("db-scheduler").drain(SMALL).isComplete()).isTrue();
    databases.clear();
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT count(*) FROM pg_database WHERE datname LIKE 'peers%'")) {
      assertThat(rows.next()).isTrue();
      assertThat(rows.getInt(1)).isZero();
    }
  }

  @Test
  void delaysAreTakenAtTheAskedPace() throws Exception {
    var product = new Arms(databases).named(Peers.PRODUCT);
    var delays = product.delays(new Peer.Pace(100, 40, Duration.ofSeconds(2)));
    assertThat(delays.reached()).isBetween(20.0, 200.0);
    assertThat(delays.p50Millis()).isPositive().isLessThanOrEqualTo(delays.p99Millis());
  }

  @Test
  void anOrderThatIsNotKeptIsCounted() throws Exception {
    var backwards =
        new ArmPeer("backwards", 3, new Fill(1, 10), keys -> new BackwardsArm(), () -> 0);
    var drained = backwards.drain(new Peer.Backlog(100, 5, Duration.ofSeconds(5)));
    assertThat(drained.isComplete()).isTrue();
    assertThat(drained.violations()).isPositive();
  }

  @Test
  void aPeerOnNodeTellsWhyItCannotRun() {
    assertThat(named("graphile-worker").missing()).contains("no node");
    assertThat(named("pg-boss").missing()).contains("no node");
  }

  private static Peer named(String name) {
    return new Peers(databases, NO_NODE)
        .all().stream().filter(peer -> peer.name().equals(name)).findFirst().orElseThrow();
  }
}
