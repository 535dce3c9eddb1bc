package dev.sessionkeeper.benchmarks.peers;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;

/**
 * A real Kafka in this process: one node that is broker and controller (KRaft), with defaults
 * except for the needs of a single node. As by default, the operating system decides when a record
 * reaches the disk.
 */
final class KafkaBroker implements AutoCloseable {
  private final Path folder;
  private final KafkaRaftServer server;
  private final String address;

  private KafkaBroker(Path folder, KafkaRaftServer server, String address) {
    this.folder = folder;
    this.server = server;
    this.address = address;
  }

  static KafkaBroker start() throws Exception {
    var folder = Scratch.folder("kafka");
    var address = "127.0.0.1:" + Scratch.freePort();
    var controller = "127.0.0.1:" + Scratch.freePort();
    var settings =
        new TreeMap<>(
            Map.of(
                "process.roles", "broker,controller",
                "node.id", "1",
                "controller.quorum.voters", "1@" + controller,
                "controller.listener.names", "CONTROLLER",
                "listeners", "PLAINTEXT://" + address + ",CONTROLLER://" + controller,
                "log.dirs", folder.resolve("log").toString(),
                "offsets.topic.replication.factor", "1",
                "offsets.topic.num.partitions", "1",
                "group.initial.rebalance.delay.ms", "0"));
    format(folder, settings);
    var server = new KafkaRaftServer(new KafkaConfig(settings), Time.SYSTEM);
    server.startup();
    return new KafkaBroker(folder, server, address);
  }

  private static void format(Path folder, Map<String, String> settings) throws Exception {
    var file = folder.resolve("server.properties");
    Files.writeString(
        file,
        settings.entrySet().stream()
            .map(setting -> setting.getKey() + "=" + setting.getValue() + "\n")
            .collect(Collectors.joining()));
    var said = new ByteArrayOutputStream();
    int code =
        StorageTool.execute(
            new String[] {"format", "-t", Uuid.randomUuid().toString(), "-c", file.toString()},
            new PrintStream(said, true, StandardCharsets.UTF_8));
    if (code != 0) {
      throw new IllegalStateException(
          "Kafka's folder could not be made: " + said.toString(StandardCharsets.UTF_8));
    }
  }

  String address() {
    return address;
  }

  @Override
  public void close() throws Exception {
    server.shutdown();
    server.awaitShutdown();
    Scratch.delete(folder);
  }
}
