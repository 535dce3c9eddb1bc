package dev.sessionkeeper.benchmarks.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kept inputs of every target, and a counted number of new ones made of them. */
@Tag("slow")
class MutateCorpusTest {
  private static final Path CORPUS = Path.of("src/fuzz");
  private static final int SEED = 1;

  @ParameterizedTest
  @CsvSource({
    "HTTP, http, 500",
    "JSON, json, 500",
    "IDS, ids, 500",
    "CURSOR, cursor, 2000",
    "CONFIG, config, 500",
    "WEBHOOK, webhook, 2000"
  })
  void keptInputsAndMutationsOfThemAreTaken(Target target, String folder, int mutations)
      throws Exception {
    assertThat(new MutateCorpus(CORPUS.resolve(folder), SEED).run(target, mutations))
        .isGreaterThan(mutations);
  }

  @Test
  void textColumnsTakeKeptInputsAndMutationsOfThem() throws Exception {
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      FuzzedStore.use(DatabaseAddress.of(postgres));
      try {
        assertThat(new MutateCorpus(CORPUS.resolve("sql"), SEED).run(Target.SQL, 300))
            .isGreaterThan(300);
      } finally {
        FuzzedStore.release();
      }
    }
  }

  @Test
  void everyCompleteRequestIsAnsweredAndAServerErrorIsFound() throws Exception {
    int before = FuzzedServer.shared().answers();

    new MutateCorpus(CORPUS.resolve("json"), SEED + 1).run(Target.JSON, 100);

    assertThat(FuzzedServer.shared().answers() - before).isGreaterThanOrEqualTo(100);
    FuzzedServer.refuseServerError("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    assertThatThrownBy(
            () -> FuzzedServer.refuseServerError("HTTP/1.1 500 Internal Server Error\r\n\r\n"))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aPlantedFindIsFound() throws Exception {
    var corpus = new MutateCorpus(CORPUS.resolve("canary"), SEED);

    assertThatThrownBy(() -> corpus.run(Target.CANARY, 2000))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("As planted");
  }
}
