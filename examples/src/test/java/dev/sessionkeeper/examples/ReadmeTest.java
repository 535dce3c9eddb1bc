package dev.sessionkeeper.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the README shows is what is compiled and run here. */
class ReadmeTest {
  private static final Path FIRST_PROCESSOR =
      Path.of("src/main/java/dev/sessionkeeper/examples/FirstProcessor.java");

  @Test
  void theJavaSampleIsTheFirstExample() throws IOException {
    assertThat(Files.readString(Path.of("../README.md")))
        .contains(region(Files.readString(FIRST_PROCESSOR), "first-processor"));
  }

  private static String region(String source, String name) {
    int from = source.indexOf('\n', source.indexOf("// region " + name)) + 1;
    int to = source.lastIndexOf('\n', source.indexOf("// endregion", from));
    return source
        .substring(from, to)
        .lines()
        .map(ReadmeTest::outdented)
        .collect(Collectors.joining("\n"));
  }

  private static String outdented(String line) {
    return line.startsWith("    ") ? line.substring(4) : line;
  }
}
