package dev.sessionkeeper.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The commands of the README, the tutorials and the how-to guides work as printed. */
@Execution(ExecutionMode.CONCURRENT)
class RunPagesTest {

  /** Returns the pages with commands; {@code -Dpages=back-up} selects those of that name. */
  static Stream<Page> pages() {
    return Manual.practical().stream()
        .filter(page -> page.toString().contains(System.getProperty("pages", "")))
        .filter(page -> page.blocks().stream().anyMatch(block -> block.language().equals("sh")));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("pages")
  void theCommandsOfThePageWork(Page page) throws Exception {
    var folder = Checkout.create();
    var result = RunPage.run(page, folder);
    result.skipped().forEach(skipped -> System.out.println("Not run: " + skipped));
    assertThat(result.failures()).isEmpty();
    delete(folder);
  }

  @Test
  void aPromiseThatIsNotKeptIsSeen() {
    assertThat(RunPage.missing("a  …c", "x\na bbb c\n")).isEmpty();
    assertThat(RunPage.missing("one\ntwo", "two\none\n")).contains("two");
    assertThat(RunPage.missing("sent 2", "sent 1")).contains("sent 2");
  }

  @Test
  void versionsAreComparedByNumber() {
    assertThat(Programs.isAtLeast("22.18.0", "22.6")).isTrue();
    assertThat(Programs.isAtLeast("20.20.2", "22.18")).isFalse();
    assertThat(Programs.isThere("no-such-program")).isFalse();
  }

  private static void delete(Path folder) throws Exception {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
