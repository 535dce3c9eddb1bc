package dev.sessionkeeper.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Whether a reload can change a key is declared once: beside the reader of the key. */
class ReloadableKeysTest {

  @Test
  void everyKeyThatIsReadIsDeclaredAndNoOther() {
    var context = new ConfigContext(Map.of(), Path.of("").toAbsolutePath());
    for (var section : KeeperConfig.SECTIONS) {
      assertThat(new TreeSet<>(section.declared().keySet()))
          .as(section.key())
          .isEqualTo(new TreeSet<>(section.absent(context).keys().keySet()));
    }
  }

  @Test
  void theManualHasTheTableOfAllKeys() throws IOException {
    var table =
        KeeperConfig.keys().stream()
            .map(ReloadableKeysTest::row)
            .collect(Collectors.joining("\n", "| key | a change takes |\n|---|---|\n", "\n"));
    assertThat(Files.readString(Path.of("../docs/operations.md"))).contains(table);
  }

  private static String row(ConfigKey key) {
    var takes =
        switch (key.rule()) {
          case RELOAD -> "a reload";
          case RESTART -> "a restart";
        };
    return "| `"
        + key.path()
        + "` | "
        + takes
        + (key.note().isEmpty() ? "" : "; " + key.note())
        + " |";
  }
}
