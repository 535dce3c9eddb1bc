package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.testkit.CapabilityTable;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class CapabilitiesDocumentTest {

  @Test
  void theTableOfTheDocsSaysWhatTheKitFound() throws Exception {
    var run = RunTheKit.on(MemoryQueueProviderTest.class, Duration.ofSeconds(30));
    assertThat(run.broken()).isEmpty();

    assertThat(
            CapabilityTable.differences(
                Path.of("..", "docs", "reference", "capabilities.md"),
                Path.of("target", "contract", "memory.json")))
        .as("docs/reference/capabilities.md is out of date; run docs/regenerate capabilities")
        .isEmpty();
  }
}
