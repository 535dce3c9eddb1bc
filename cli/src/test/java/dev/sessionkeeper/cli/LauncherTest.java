package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the script keeper in a checkout of its own, with a Java that reports how it was started. */
@Tag("slow")
class LauncherTest {
  private static final Instant BUILT = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path folder;
  private Path checkout;
  private Path java;

  @BeforeEach
  void layOutACheckout() throws IOException {
    checkout = Files.createDirectories(folder.resolve("check out"));
    Files.copy(Path.of("..", "keeper"), checkout.resolve("keeper"));
    program(checkout.resolve("keeper"));
    Files.createDirectories(checkout.resolve("cli/target/lib"));
    var stamp = Files.createFile(checkout.resolve("cli/target/keeper.built"));
    Files.setLastModifiedTime(stamp, FileTime.from(BUILT));
    java = folder.resolve("jdk");
    Files.createDirectories(java.resolve("bin"));
    Files.writeString(java.resolve("release"), "JAVA_VERSION=\"21.0.1\"\n");
    var real = Path.of(System.getProperty("java.home"), "bin", "java");
    Files.writeString(
        java.resolve("bin/java"),
        """
        #!/bin/sh
        printf '%%s\\n' "$@"
        exec '%s' -XshowSettings:properties -version 2>&1
        """
            .formatted(real));
    program(java.resolve("bin/java"));
  }

  @Test
  void aLinkOnThePathLeadsToItsCheckout() throws Exception {
    var bin = Files.createDirectories(folder.resolve("bin"));
    Files.createSymbolicLink(bin.resolve("first"), checkout.resolve("keeper"));
    Files.createSymbolicLink(bin.resolve("keeper"), Path.of("first"));
    var ran = run(bin.resolve("keeper"), Map.of("HOME", folder.toString()));
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).contains("-Dkeeper.home=" + checkout.toRealPath());
  }

  @Test
  void aPackageCallsItselfAsItStandsOnThePath() throws Exception {
    assertThat(run(checkout.resolve("keeper"), Map.of()).out())
        .contains("-Dsessionkeeper.command=./keeper");
    Files.move(java, checkout.resolve("runtime"));
    assertThat(run(checkout.resolve("keeper"), Map.of()).out())
        .contains("-Dsessionkeeper.command=keeper");
  }

  @Test
  void noHomeIsNeeded() throws Exception {
    var ran = run(checkout.resolve("keeper"), Map.of());
    assertThat(ran.code()).as(ran.err()).isZero();
  }

  @Test
  void argumentsAreUtf8WhateverTheLocaleIs() throws Exception {
    for (var locale :
        List.of(
            Map.<String, String>of(),
            Map.of("LANG", "C"),
            Map.of("LC_ALL", "POSIX", "LANG", "C.UTF-8"),
            Map.of("LC_ALL", "C.UTF-8"))) {
      var environment = new java.util.HashMap<>(locale);
      environment.put("HOME", folder.toString());
      var ran = run(checkout.resolve("keeper"), environment);
      assertThat(ran.out())
          .as("locale " + locale)
          .contains("sun.jnu.encoding = UTF-8")
          .contains("-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8");
    }
  }

  @Test
  void aCheckoutThatCannotBeWrittenRunsItsOlderBuild() throws Exception {
    assumeFalse(System.getProperty("user.name").equals("root"), "root may write everywhere");
    var source = checkout.resolve("cli/src/main/java");
    Files.createDirectories(source);
    Files.createFile(source.resolve("Newer.java"));
    var target = checkout.resolve("cli/target");
    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("r-xr-xr-x"));
    try {
      var ran = run(checkout.resolve("keeper"), Map.of("HOME", folder.toString()));
      assertThat(ran.code()).as(ran.err()).isZero();
      assertThat(ran.err()).contains("Warning: the sources are newer").doesNotContain("denied");
      assertThat(ran.out()).doesNotContain("SharedArchiveFile");
    } finally {
      Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }

  @Test
  void aBuildTellsHowFarItIs() throws Exception {
    Files.delete(checkout.resolve("cli/target/keeper.built"));
    var bin = Files.createDirectories(folder.resolve("maven"));
    Files.writeString(
        bin.resolve("mvn"),
        """
        #!/bin/sh
        echo '[INFO] Building Sessionkeeper :: HTTP client 0.1.0-SNAPSHOT               [8/17]'
        sleep 2
        """);
    program(bin.resolve("mvn"));
    var ran = run(checkout.resolve("keeper"), Map.of("PATH", bin + ":/usr/bin:/bin"));
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.err()).contains("Building Sessionkeeper", "  8 of 17: HTTP client\n");
  }

  @Test
  void aBuildThatFailsShowsWhy() throws Exception {
    Files.delete(checkout.resolve("cli/target/keeper.built"));
    var bin = Files.createDirectories(folder.resolve("maven"));
    Files.writeString(bin.resolve("mvn"), "#!/bin/sh\necho '[ERROR] no such thing'\nexit 1\n");
    program(bin.resolve("mvn"));
    var ran = run(checkout.resolve("keeper"), Map.of("PATH", bin + ":/usr/bin:/bin"));
    assertThat(ran.code()).isEqualTo(Exit.UNAVAILABLE);
    assertThat(ran.err()).contains("no such thing", "could not be built");
  }

  @Test
  void withoutMavenTheWrapperBuilds() throws Exception {
    Files.delete(checkout.resolve("cli/target/keeper.built"));
    Files.writeString(
        checkout.resolve("mvnw"),
        "#!/bin/sh\necho \"[ERROR] the wrapper ran with $JAVA_HOME\"\nexit 1\n");
    program(checkout.resolve("mvnw"));
    var bare = Files.createDirectories(folder.resolve("bare"));
    for (var tool :
        "bash sh dirname readlink find sed mkdir grep tail sleep env head cat".split(" ")) {
      var script = "#!/bin/sh\nexec /usr/bin/%s \"$@\"\n".formatted(tool);
      program(Files.writeString(bare.resolve(tool), script));
    }
    var ran = run(checkout.resolve("keeper"), Map.of("PATH", bare.toString()));
    assertThat(ran.code()).isEqualTo(Exit.UNAVAILABLE);
    assertThat(ran.err()).contains("the wrapper ran with " + java);
  }

  @Test
  void theWrapperInstallsAnArchiveOnlyIfItsChecksumFits() throws Exception {
    var wrapper = checkout.resolve("mvnw");
    Files.copy(Path.of("..", "mvnw"), wrapper);
    program(wrapper);
    var maven = Files.createDirectories(folder.resolve("made/maven-1.0/bin")).resolve("mvn");
    Files.writeString(maven, "#!/bin/sh\necho \"Maven with $*\"\n");
    program(maven);
    var archive = folder.resolve("maven-1.0-bin.tar.gz");
    var packed =
        new ProcessBuilder(
                "tar",
                "-czf",
                archive.toString(),
                "-C",
                folder.resolve("made").toString(),
                "maven-1.0")
            .start();
    assertThat(packed.waitFor()).isZero();
    var home = folder.resolve("maven home");
    var environment = Map.of("MAVEN_USER_HOME", home.toString());

    properties(archive, "0".repeat(64));
    var refused = run(wrapper, environment);
    assertThat(refused.code()).isEqualTo(Exit.UNAVAILABLE);
    assertThat(refused.err()).contains("instead of 0000", "nothing was installed");
    assertThat(home.resolve("wrapper/dists")).isEmptyDirectory();

    var digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(archive));
    properties(archive, HexFormat.of().formatHex(digest));
    assertThat(run(wrapper, environment).out()).isEqualTo("Maven with queues\n");
    Files.delete(archive);
    assertThat(run(wrapper, environment).out()).as("once").isEqualTo("Maven with queues\n");
  }

  private void properties(Path archive, String checksum) throws IOException {
    var file = checkout.resolve(".mvn/wrapper/maven-wrapper.properties");
    Files.createDirectories(file.getParent());
    Files.writeString(
        file, "distributionUrl=file://%s\ndistributionSha256Sum=%s\n".formatted(archive, checksum));
  }

  private Ran run(Path script, Map<String, String> environment) throws Exception {
    var err = folder.resolve("err");
    var builder =
        new ProcessBuilder(new ArrayList<>(List.of(script.toString(), "queues")))
            .redirectError(err.toFile());
    builder.environment().clear();
    builder.environment().put("PATH", "/usr/bin:/bin");
    builder.environment().put("KEEPER_JAVA_HOME", java.toString());
    builder.environment().putAll(environment);
    var process = builder.start();
    var out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ran(process.waitFor(), out, Files.readString(err));
  }

  private static void program(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
