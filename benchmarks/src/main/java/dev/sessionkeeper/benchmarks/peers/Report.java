package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Runs;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Reports the results of the turns: medians, ranges, and the product's rate over each peer's. */
record Report(Map<Peer, List<Peer.Drained>> turns) {

  static String turn(int number, Peer peer, Peer.Drained drained) {
    return String.format(
        Locale.ROOT,
        "#%d %-26s sent %,d at %,.0f/s, handled %,d at %,.0f/s (first after %.2f s), %.1f us of CPU each, out of order %d",
        number,
        peer.name(),
        drained.sent(),
        drained.sentPerSecond(),
        drained.handled(),
        drained.handledPerSecond(),
        drained.startSeconds(),
        drained.cpuMicros(),
        drained.violations());
  }

  String table() {
    var lines = new ArrayList<String>();
    lines.add(
        "| | produce, msg/s | drain, msg/s | CPU per message | product / peer | goal | out of order |");
    lines.add("|---|---|---|---|---|---|---|");
    turns.forEach((peer, drained) -> lines.add(row(peer, drained)));
    return String.join("\n", lines);
  }

  private String row(Peer peer, List<Peer.Drained> drained) {
    var handled = runs(drained, Peer.Drained::handledPerSecond);
    boolean whole = drained.stream().allMatch(Peer.Drained::isComplete);
    return String.format(
        Locale.ROOT,
        "| %s | %s | %s%s | %.0f us | %s | %s | %d |",
        peer.name(),
        runs(drained, Peer.Drained::sentPerSecond).thousands(),
        handled.thousands(),
        whole ? "" : " (capped)",
        runs(drained, Peer.Drained::cpuMicros).median(),
        peer.goal() == 0 ? "–" : ratio(drained).plain(),
        peer.goal() == 0 ? "–" : String.format(Locale.ROOT, ">= %.0f", peer.goal()),
        drained.stream().mapToLong(Peer.Drained::violations).sum());
  }

  private static Runs runs(List<Peer.Drained> drained, ToDoubleFunction<Peer.Drained> value) {
    return Runs.of(drained.stream().map(value::applyAsDouble).toList());
  }

  /** Returns the ratio of the product's rate to the peer's, turn by turn. */
  Runs ratio(List<Peer.Drained> drained) {
    var product =
        turns.entrySet().stream()
            .filter(entry -> entry.getKey().goal() == 0)
            .findFirst()
            .orElseThrow()
            .getValue();
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < drained.size(); i++) {
      ratios.add(product.get(i).handledPerSecond() / drained.get(i).handledPerSecond());
    }
    return Runs.of(ratios);
  }
}
