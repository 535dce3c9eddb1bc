package dev.sessionkeeper.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sessionkeeper.testkit.WriteCapabilityTable;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The capability table names every provider. Each provider's module checks its own column; {@code
 * docs/regenerate capabilities} runs the kit on all of them and writes the table.
 */
class CapabilitiesTest {
  private static final List<String> PROVIDERS = List.of("memory", "postgres", "sqs", "servicebus");

  @Test
  void theTableHasAColumnForEveryProvider() throws Exception {
    assertThat(Files.readString(Manual.DOCS.resolve("reference/capabilities.md")))
        .contains("| rule | " + String.join(" | ", PROVIDERS) + " |");
  }

  @Test
  void theTableIsWrittenOnRequest() throws Exception {
    assumeTrue(Boolean.getBoolean("docs.write"), "only docs/regenerate writes");
    var arguments = new ArrayList<String>();
    arguments.add(Manual.DOCS.resolve("reference/capabilities.md").toString());
    for (var provider : PROVIDERS) {
      var results = Manual.ROOT.resolve(provider + "/target/contract/" + provider + ".json");
      assertThat(results).as("results of the kit").exists();
      arguments.add(results.toString());
    }
    WriteCapabilityTable.main(arguments.toArray(String[]::new));
  }
}
