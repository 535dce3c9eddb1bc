package dev.sessionkeeper.benchmarks.peers;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The product and all its peers, each in a process of its own. */
record Peers(Databases databases, NodeFolder node) {
  static final String PRODUCT = "sessionkeeper";
  static final double FEW = 3;
  static final double MANY = 10;

  List<Peer> all() {
    var onJava =
        new Arms(databases)
            .all().stream().map(arm -> new JavaPeer(arm.name(), arm.goal(), databases));
    return Stream.<Peer>concat(
            onJava,
            Stream.of(
                onNode("graphile-worker", FEW, "graphile-worker.mjs", Map.of()),
                onNode("pg-boss", MANY, "pg-boss.mjs", Map.of("FETCH", "50", "LOOPS", "16")),
                onNode("pg-boss-1000", MANY, "pg-boss.mjs", Map.of("FETCH", "1000", "LOOPS", "1"))))
        .toList();
  }

  private NodePeer onNode(String name, double goal, String script, Map<String, String> settings) {
    return new NodePeer(name, goal, script, settings, node, databases);
  }
}
