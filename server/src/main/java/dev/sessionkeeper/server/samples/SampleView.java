package dev.sessionkeeper.server.samples;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.Reach;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The numbers over time of one queue, or of all visible queues: one list per number, as charts need
 * them.
 *
 * @param in messages per second that arrived since the previous sample; empty if unknown
 * @param out messages per second that were completed or dead-lettered
 * @param age how many seconds the oldest message has waited
 */
record SampleView(
    List<Instant> at,
    List<Double> in,
    List<Double> out,
    List<Long> depth,
    List<Double> age,
    List<Long> dead,
    List<Long> parked) {

  /** The newest numbers, for a live view. */
  record Point(
      Instant at,
      Optional<Double> in,
      Optional<Double> out,
      long depth,
      double age,
      long dead,
      long parked) {}

  static SampleView of(List<Sample> samples, Optional<QueueName> queue, Reach reach) {
    var view =
        new SampleView(
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>());
    for (int i = 1; i < samples.size(); i++) {
      var point = point(samples.get(i - 1), samples.get(i), queue, reach);
      view.at.add(point.at());
      point.in().ifPresent(view.in::add);
      point.out().ifPresent(view.out::add);
      view.depth.add(point.depth());
      view.age.add(point.age());
      view.dead.add(point.dead());
      view.parked.add(point.parked());
    }
    return view;
  }

  static Point point(Sample before, Sample now, Optional<QueueName> queue, Reach reach) {
    var first = sum(before.queues(), queue, reach);
    var last = sum(now.queues(), queue, reach);
    double seconds = Math.max(0.1, Duration.between(before.at(), now.at()).toMillis() / 1000.0);
    return new Point(
        now.at(),
        rate(last, last.arrived() - first.arrived(), seconds),
        rate(last, last.gone() - first.gone(), seconds),
        Math.max(0, last.depth()),
        Math.round(last.oldestMillis() / 100.0) / 10.0,
        last.dead(),
        last.parked());
  }

  private static Optional<Double> rate(Sample.Numbers numbers, long more, double seconds) {
    return numbers.isCounted()
        ? Optional.of(Math.round(Math.max(0, more) / seconds * 10) / 10.0)
        : Optional.empty();
  }

  private static Sample.Numbers sum(
      Map<String, Sample.Numbers> all, Optional<QueueName> queue, Reach reach) {
    long arrived = 0;
    long gone = 0;
    long depth = 0;
    long dead = 0;
    long parked = 0;
    long paused = 0;
    long held = 0;
    long oldest = 0;
    boolean isCounted = true;
    for (var entry : all.entrySet()) {
      boolean isMeant = queue.map(name -> name.value().equals(entry.getKey())).orElse(true);
      if (isMeant && reach.includes(QueueName.of(entry.getKey()))) {
        var one = entry.getValue();
        arrived += one.arrived();
        gone += one.gone();
        depth += one.depth();
        dead += one.dead();
        parked += one.parked();
        paused += one.paused();
        held += one.held();
        oldest = Math.max(oldest, one.oldestMillis());
        isCounted &= one.isCounted();
      }
    }
    return new Sample.Numbers(
        arrived, gone, depth, dead, parked, paused, held, oldest, isCounted, "", "");
  }
}
