package dev.sessionkeeper.github;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** docs/bots.md says what the code does (K15). */
class BotsDocumentTest {
  @ParameterizedTest
  @EnumSource(BotKey.class)
  void everyKeyIsDescribedWithItsDefaultAndWhatIsAllowed(BotKey key) throws IOException {
    var row =
        "| `%s` | %s | %s | "
            .formatted(
                key.key(),
                key.initially().map(text -> "`" + text + "`").orElse("–"),
                key.allowed());
    assertThat(Files.readString(Path.of("..", "docs", "bots.md"))).contains("\n" + row);
  }
}
