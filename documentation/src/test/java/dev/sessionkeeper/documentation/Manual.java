package dev.sessionkeeper.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** All pages of the repository. */
final class Manual {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  static final Path DOCS = ROOT.resolve("docs");
  static final Path INDEX = DOCS.resolve("README.md");

  private Manual() {}

  static List<Page> pages() {
    try (var docs = Files.walk(DOCS)) {
      return Stream.concat(
              Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md").map(ROOT::resolve),
              docs.filter(file -> file.toString().endsWith(".md")).sorted())
          .map(Page::read)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the pages whose commands a reader types: the README, tutorials and how-to guides. */
  static List<Page> practical() {
    return pages().stream()
        .filter(
            page ->
                page.file().equals(ROOT.resolve("README.md"))
                    || page.file().startsWith(DOCS.resolve("tutorial"))
                    || page.file().startsWith(DOCS.resolve("how-to")))
        .toList();
  }
}
