package dev.sessionkeeper.documentation;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * A folder that looks like a built clone to {@code ./keeper}: the launcher, its libraries, and the
 * files that pages use. So the commands of a page do not change the real clone.
 */
final class Checkout {
  private Checkout() {}

  static Path create() throws IOException {
    var folder =
        Files.createTempDirectory(
            "manual",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    var lib = Files.createDirectories(folder.resolve("cli/target/lib"));
    for (var entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      add(Path.of(entry), lib);
    }
    Files.createFile(folder.resolve("cli/target/keeper.built"));
    Files.copy(
        Manual.ROOT.resolve("keeper"),
        folder.resolve("keeper"),
        StandardCopyOption.COPY_ATTRIBUTES);
    Files.createSymbolicLink(folder.resolve("ops"), Manual.ROOT.resolve("ops"));
    return folder;
  }

  private static void add(Path entry, Path lib) throws IOException {
    if (entry.toString().endsWith(".jar")) {
      Files.createSymbolicLink(lib.resolve(entry.getFileName()), entry);
    } else if (Files.isDirectory(entry) && entry.endsWith("target/classes")) {
      pack(entry, lib.resolve(entry.getParent().getParent().getFileName() + ".jar"));
    }
  }

  /** Packs classes into a jar, because a class path with a wildcard accepts jars only. */
  private static void pack(Path classes, Path jar) throws IOException {
    try (var out = new JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.walk(classes)) {
      out.setLevel(0);
      files
          .filter(file -> !file.equals(classes))
          .forEach(
              file -> {
                try {
                  // Migrations are found by their folder, so folders need entries too.
                  var name = classes.relativize(file).toString();
                  boolean isFile = Files.isRegularFile(file);
                  out.putNextEntry(new JarEntry(isFile ? name : name + "/"));
                  if (isFile) {
                    Files.copy(file, out);
                  }
                  out.closeEntry();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }
  }
}
