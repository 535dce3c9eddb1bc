package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** For every contract rule there is a planted bug that the kit must find. */
@Tag("slow")
class PlantedBugsTest {
  private static final Pattern RULE = Pattern.compile("^\\| ([A-Z]-[0-9]+[a-z]?) \\|");

  private static final Duration SHORT = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(30);

  static Stream<PlantedBug> bugs() {
    return PlantedBug.all().stream();
  }

  @ParameterizedTest
  @MethodSource("bugs")
  void theKitFindsIt(PlantedBug bug) {
    BrokenProviderRun.provider = bug.provider();

    assertThat(RunTheKit.on(BrokenProviderRun.class, SHORT).broken()).contains(bug.rule());
  }

  @Test
  void theKitFindsNothingWhereNothingIsPlanted() throws IOException {
    var run = RunTheKit.on(BrokenProviderRun.class, LONG);

    assertThat(run.broken()).isEmpty();
    assertThat(run.kept()).isEqualTo(rulesOfTheDocument());
  }

  @Test
  void nothingIsPlantedByBreakingNothing() {
    BrokenProviderRun.provider = Breakable::new;

    assertThat(RunTheKit.on(BrokenProviderRun.class, LONG).broken()).isEmpty();
  }

  @Test
  void everyRuleHasAPlantedBug() throws IOException {
    var broken = new TreeSet<>(bugs().map(PlantedBug::rule).toList());

    assertThat(broken).isEqualTo(rulesOfTheDocument());
  }

  @AfterEach
  void plantNothing() {
    BrokenProviderRun.provider = MemoryQueueProvider::create;
  }

  private static Set<String> rulesOfTheDocument() throws IOException {
    try (var lines = Files.lines(Path.of("..", "docs", "reference", "contract.md"))) {
      return lines
          .map(RULE::matcher)
          .filter(matcher -> matcher.find())
          .map(matcher -> matcher.group(1))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }
}
