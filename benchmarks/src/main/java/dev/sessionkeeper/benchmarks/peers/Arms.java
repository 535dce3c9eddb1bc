package dev.sessionkeeper.benchmarks.peers;

import com.sun.management.OperatingSystemMXBean;
import dev.sessionkeeper.benchmarks.postgres.KeeperArm;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * The product and its peers on Java. Some come twice: with their best options for a handler that
 * does nothing, and with the options when the goals were set, or their defaults.
 */
record Arms(FreshDatabases databases) {
  private static final Fill BATCHES = new Fill(4, 1000);
  private static final Fill CALLS_OF_TEN = new Fill(16, 10);

  List<ArmPeer> all() {
    return List.of(
        new ArmPeer(
            Peers.PRODUCT,
            0,
            BATCHES,
            keys -> KeeperArm.open(databases.fresh(), keys),
            this::withDatabase),
        alone("artemis", Peers.FEW, BATCHES, keys -> ArtemisArm.withBlocks()),
        alone("artemis-tx50", Peers.FEW, BATCHES, keys -> ArtemisArm.withTransactions(50)),
        alone("parallel-consumer", Peers.FEW, BATCHES, keys -> KafkaArm.tuned()),
        alone("parallel-consumer-defaults", Peers.FEW, BATCHES, keys -> KafkaArm.withDefaults()),
        alone("elasticmq", Peers.MANY, CALLS_OF_TEN, keys -> ElasticMqArm.open()),
        new ArmPeer(
            "db-scheduler",
            Peers.MANY,
            BATCHES,
            keys -> DbSchedulerArm.open(databases.fresh()),
            this::withDatabase));
  }

  ArmPeer named(String name) {
    return all().stream().filter(peer -> peer.name().equals(name)).findFirst().orElseThrow();
  }

  private static ArmPeer alone(String name, double goal, Fill filling, ArmPeer.Engine engine) {
    return new ArmPeer(name, goal, filling, engine, Arms::thisProcess);
  }

  private double withDatabase() {
    return thisProcess() + databases.cpuSeconds();
  }

  private static double thisProcess() {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return system.getProcessCpuTime() / 1e9;
  }
}
