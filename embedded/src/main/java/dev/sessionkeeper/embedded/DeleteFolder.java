package dev.sessionkeeper.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes a temporary folder with everything in it. */
final class DeleteFolder {
  private static final Logger log = LoggerFactory.getLogger(DeleteFolder.class);

  private DeleteFolder() {}

  static void of(Path folder) {
    try (var files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(DeleteFolder::delete);
    } catch (IOException | UncheckedIOException e) {
      log.warn("The temporary folder {} could not be removed whole: {}", folder, e.getMessage());
    }
  }

  /** Removes everything in the folder, but not the folder itself. */
  static void contentOf(Path folder) throws IOException {
    try (var entries = Files.list(folder)) {
      entries.forEach(DeleteFolder::of);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
