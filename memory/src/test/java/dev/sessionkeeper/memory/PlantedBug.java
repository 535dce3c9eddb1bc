package dev.sessionkeeper.memory;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A provider with one defect, and the rule that it breaks.
 *
 * @param defect what is wrong, in words
 */
record PlantedBug(String rule, String defect, Function<TimeSource, QueueProvider> provider) {

  static List<PlantedBug> all() {
    return Stream.of(
            SendingBugs.all(),
            HoldingBugs.all(),
            SettlingBugs.all(),
            DeadLetterBugs.all(),
            RemovalBugs.all())
        .flatMap(List::stream)
        .toList();
  }

  @Override
  public String toString() {
    return rule + ": " + defect;
  }
}
