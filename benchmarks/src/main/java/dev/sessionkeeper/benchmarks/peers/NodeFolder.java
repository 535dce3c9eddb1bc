package dev.sessionkeeper.benchmarks.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The folder of the peers on Node: copies of the scripts and their dependencies, installed by npm
 * if missing.
 *
 * @param missing why they cannot run here, if so
 */
record NodeFolder(Path path, Optional<String> missing) {
  private static final Path SCRIPTS = Path.of("benchmarks", "peers");
  private static final Path TARGET = Path.of("benchmarks", "target", "peers");
  private static final int INSTALL_MINUTES = 5;

  /** Searches from the root of the repository, or from the module. */
  static NodeFolder prepare() throws IOException, InterruptedException {
    var root = Path.of("").toAbsolutePath();
    if (!Files.isDirectory(root.resolve(SCRIPTS)) && root.getParent() != null) {
      root = root.getParent();
    }
    var scripts = root.resolve(SCRIPTS);
    var target = root.resolve(TARGET);
    if (!Files.isDirectory(scripts)) {
      return new NodeFolder(target, Optional.of("there is no " + SCRIPTS + " here"));
    }
    for (var program : List.of("node", "npm")) {
      if (!runs(program)) {
        return new NodeFolder(target, Optional.of(program + " is missing"));
      }
    }
    return new NodeFolder(target, install(scripts, target));
  }

  private static boolean runs(String program) throws InterruptedException {
    try {
      return new ProcessBuilder(program, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static Optional<String> install(Path scripts, Path target)
      throws IOException, InterruptedException {
    Files.createDirectories(target);
    try (Stream<Path> files = Files.list(scripts)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, target.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    var wanted = Files.readString(target.resolve("package.json"));
    var installed = target.resolve("installed.json");
    if (Files.exists(installed) && Files.readString(installed).equals(wanted)) {
      return Optional.empty();
    }
    var log = target.resolve("npm.log");
    var npm =
        new ProcessBuilder("npm", "install", "--no-package-lock", "--no-audit", "--no-fund")
            .directory(target.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (!npm.waitFor(INSTALL_MINUTES, TimeUnit.MINUTES) || npm.exitValue() != 0) {
      npm.destroy();
      return Optional.of("npm install failed, see " + TARGET.resolve("npm.log"));
    }
    Files.writeString(installed, wanted);
    return Optional.empty();
  }
}
