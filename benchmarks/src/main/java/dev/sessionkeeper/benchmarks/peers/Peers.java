package dev.sessionkeeper.benchmarks.peers;

import com.sun.management.OperatingSystemMXBean;
import dev.sessionkeeper.benchmarks.postgres.KeeperArm;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;

/**
 * The product and all its peers. Some come twice: with what is best for a handler that does
 * nothing, and as they were when the goals were set, or as they are by default.
 */
record Peers(Databases databases, NodeFolder node) {
  private static final Fill BATCHES = new Fill(4, 1000);
  private static final Fill CALLS_OF_TEN = new Fill(16, 10);
  private static final double FEW = 3;
  private static final double MANY = 10;

  static final String PRODUCT = "sessionkeeper";

  List<Peer> all() {
    return List.of(
        new ArmPeer(
            PRODUCT,
            0,
            true,
            BATCHES,
            keys -> KeeperArm.open(databases.fresh(), keys),
            this::withDatabase),
        onNode("graphile-worker", FEW, "graphile-worker.mjs", Map.of()),
        inProcess("artemis", FEW, BATCHES, keys -> ArtemisArm.withBlocks()),
        inProcess("artemis-tx50", FEW, BATCHES, keys -> ArtemisArm.withTransactions(50)),
        inProcess("parallel-consumer", FEW, BATCHES, keys -> KafkaArm.tuned()),
        inProcess("parallel-consumer-defaults", FEW, BATCHES, keys -> KafkaArm.withDefaults()),
        onNode("pg-boss", MANY, "pg-boss.mjs", Map.of("FETCH", "50", "LOOPS", "16")),
        onNode("pg-boss-1000", MANY, "pg-boss.mjs", Map.of("FETCH", "1000", "LOOPS", "1")),
        inProcess("elasticmq", MANY, CALLS_OF_TEN, keys -> ElasticMqArm.open()),
        new ArmPeer(
            "db-scheduler",
            MANY,
            false,
            BATCHES,
            keys -> DbSchedulerArm.open(databases.fresh()),
            this::withDatabase));
  }

  private static ArmPeer inProcess(String name, double goal, Fill filling, ArmPeer.Engine engine) {
    return new ArmPeer(name, goal, false, filling, engine, Peers::thisProcess);
  }

  private NodePeer onNode(String name, double goal, String script, Map<String, String> settings) {
    return new NodePeer(name, goal, script, settings, node, databases);
  }

  private double withDatabase() {
    return thisProcess() + databases.cpuSeconds();
  }

  private static double thisProcess() {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime() / 1e9;
  }
}
