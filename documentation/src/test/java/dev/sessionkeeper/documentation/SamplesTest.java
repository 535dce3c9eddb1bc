package dev.sessionkeeper.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assertions.assertAll;

import dev.sessionkeeper.server.config.CheckYamlSample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import tools.jackson.databind.ObjectMapper;

/**
 * Samples of the documentation are compiled, read or run. {@link RunPagesTest} runs the commands;
 * this class checks everything else.
 */
class SamplesTest {
  private static final Set<String> LANGUAGES =
      Set.of("sh", "text", "java", "yaml", "json", "python", "typescript", "sql", "xml", "bicep");

  /**
   * The most samples that the build may leave out, because they need a program or service that a
   * build machine lacks. Each is marked on its page.
   */
  private static final int MOST_EXCLUDED = 16;

  @Test
  void everyBlockNamesALanguageThatIsChecked() {
    each(
        block -> !block.isExcluded(),
        (page, block) -> assertThat(LANGUAGES).as(place(page, block)).contains(block.language()));
  }

  @Test
  void javaIsPartOfACompiledFile() {
    var sources = compiledSources();
    each(
        block -> block.language().equals("java") && block.file().isEmpty(),
        (page, block) ->
            assertThat(sources.stream().filter(source -> source.contains(stripped(block.text()))))
                .as(place(page, block) + " is no part of a compiled file")
                .isNotEmpty());
  }

  @Test
  void yamlIsAConfigurationThatTheServerAccepts() {
    each(
        block -> block.language().equals("yaml") && block.file().isEmpty() && !block.isExcluded(),
        (page, block) ->
            assertThatCode(() -> CheckYamlSample.check(block.text()))
                .as(place(page, block))
                .doesNotThrowAnyException());
  }

  @Test
  void jsonCanBeParsed() {
    each(
        block -> block.language().equals("json"),
        (page, block) ->
            assertThatCode(() -> new ObjectMapper().readTree(block.text()))
                .as(place(page, block))
                .doesNotThrowAnyException());
  }

  @Test
  void commandsStandOnPagesThatAreRun() {
    var practical = Manual.practical().stream().map(Page::file).collect(Collectors.toSet());
    each(
        block -> Set.of("sh", "python", "typescript").contains(block.language()),
        (page, block) ->
            assertThat(block.isExcluded() || practical.contains(page.file()))
                .as(place(page, block) + " stands on a page that is not run")
                .isTrue());
  }

  @Test
  void fewSamplesAreLeftOut() {
    var excluded = new ArrayList<String>();
    for (var page : Manual.pages()) {
      page.blocks().stream()
          .filter(Block::isExcluded)
          .forEach(block -> excluded.add(place(page, block)));
    }
    assertThat(excluded).hasSizeLessThanOrEqualTo(MOST_EXCLUDED);
  }

  private static void each(
      java.util.function.Predicate<Block> wanted,
      java.util.function.BiConsumer<Page, Block> check) {
    var checks = new ArrayList<Executable>();
    for (var page : Manual.pages()) {
      page.blocks().stream()
          .filter(wanted)
          .forEach(block -> checks.add(() -> check.accept(page, block)));
    }
    assertAll(checks);
  }

  private static List<String> compiledSources() {
    try (var examples = Files.walk(Manual.ROOT.resolve("examples"));
        var own = Files.walk(Path.of("src"));
        var starters = starterSamples()) {
      return Stream.of(examples, own, starters)
          .flatMap(files -> files)
          .filter(file -> file.toString().endsWith(".java"))
          .map(SamplesTest::read)
          .map(SamplesTest::stripped)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the samples that modules keep next to their tests, in classes whose names end with
   * Samples.
   */
  private static Stream<Path> starterSamples() throws IOException {
    return Files.find(
        Manual.ROOT,
        12,
        (file, attributes) ->
            file.toString().endsWith("Samples.java") && file.toString().contains("/src/test/"));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The formatter may break a source's lines differently from the page. */
  private static String stripped(String text) {
    return text.replaceAll("\\s+", "");
  }

  private static String place(Page page, Block block) {
    return page + ":" + block.line();
  }
}
