package dev.sessionkeeper.benchmarks.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jazzer runs on a target, and finds what is planted; {@code MutateCorpusTest} has all targets. */
@Tag("slow")
class FuzzTest {
  private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();

  @Test
  void jazzerFindsNothingInCursors() throws Exception {
    var result = new Fuzz(CHECKOUT).run(Target.CURSOR, Duration.ofSeconds(2), false);

    var log = Files.readString(result.log(), ISO_8859_1);
    assertThat(result.hasFound()).as(log).isFalse();
    assertThat(result.runs()).as(log).isGreaterThan(10);
  }

  @Test
  void aPlantedFindIsFound() throws Exception {
    var result = new Fuzz(CHECKOUT).run(Target.CANARY, Duration.ofSeconds(20), false);

    assertThat(result.hasFound()).isTrue();
    assertThat(Files.readString(result.log(), ISO_8859_1)).contains("As planted");
  }
}
