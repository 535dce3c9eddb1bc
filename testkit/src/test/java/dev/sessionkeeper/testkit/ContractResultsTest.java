package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContractResultsTest {
  @TempDir Path folder;

  @Test
  void resultsAreReadAsTheyWereWritten() {
    var parsed = ContractResults.parse(someResults().toJson());

    assertThat(parsed.name()).isEqualTo("sqs");
    assertThat(parsed.rules()).isEqualTo(someResults().rules());
  }

  @Test
  void anotherFileIsRefused() {
    assertThatThrownBy(() -> ContractResults.parse("{}"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theTableTellsWhatIsKeptWhatIsNotAndWhy() {
    assertThat(WriteCapabilityTable.table(List.of(someResults())))
        .contains("| rule | sqs |")
        .contains("| Q-01 | yes (2) |")
        .contains("| Q-02 | **broken** |")
        .contains("| S-01 | in part (1 of 2): this provider cannot lease a chosen session |")
        .contains("| S-07 | no: the broker chooses |");
  }

  @Test
  void aTableThatIsNotCurrentIsFound() throws Exception {
    var table = folder.resolve("capabilities.md");
    var results = folder.resolve("sqs.json");
    Files.writeString(results, someResults().toJson());
    WriteCapabilityTable.main(new String[] {table.toString(), results.toString()});
    assertThat(CapabilityTable.differences(table, results)).isEmpty();

    var newer = someResults();
    newer.passed("Q-01");
    Files.writeString(results, newer.toJson());
    assertThat(CapabilityTable.differences(table, results))
        .containsExactly("Q-01: the table says yes (2), the run says yes (3)");
  }

  private static ContractResults someResults() {
    var results = new ContractResults();
    results.name("sqs");
    results.passed("Q-01");
    results.passed("Q-01");
    results.failed("Q-02");
    results.passed("S-01");
    results.skipped("S-01", "this provider cannot lease a chosen session");
    results.skipped("S-07", "the broker chooses");
    return results;
  }
}
