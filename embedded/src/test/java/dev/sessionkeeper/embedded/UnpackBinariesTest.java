package dev.sessionkeeper.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sessionkeeper.KeeperException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class UnpackBinariesTest {
  private static final BinariesDigest EXPECTED = BinariesDigest.expected(UnpackBinaries.platform());

  @TempDir Path temporary;
  private Path home;

  @BeforeEach
  void createHome() throws Exception {
    home = Files.createDirectory(temporary.resolve("home"), mode("rwx------"));
  }

  @Test
  void programsOfThisReleaseAreUnpackedAndHaveTheDigestThatItKnows() throws Exception {
    var unpacked = new UnpackBinaries(home, EXPECTED).unpackAndVerify();

    assertThat(BinariesDigest.of(unpacked))
        .as("a new PostgreSQL version needs new lines in postgres-binaries.properties")
        .isEqualTo(EXPECTED);
  }

  @Test
  void aProgramThatWasChangedIsNeverRun() throws Exception {
    var unpacked = new UnpackBinaries(home, EXPECTED).unpackAndVerify();
    Files.writeString(unpacked.resolve("bin/initdb"), "#!/bin/sh\ntouch /tmp/owned\n");

    new UnpackBinaries(home, EXPECTED).unpackAndVerify();

    assertThat(BinariesDigest.of(unpacked)).isEqualTo(EXPECTED);
  }

  @Test
  void aFileThatWasAddedIsNoticed() throws Exception {
    var unpacked = new UnpackBinaries(home, EXPECTED).unpackAndVerify();
    var added = Files.writeString(unpacked.resolve("lib/planted.so"), "planted");

    new UnpackBinaries(home, EXPECTED).unpackAndVerify();

    assertThat(added).doesNotExist();
  }

  @Test
  void aFolderThatOthersCanWriteIsRefused() throws Exception {
    Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxrwxrwx"));

    assertThatThrownBy(() -> new UnpackBinaries(home, EXPECTED).unpackAndVerify())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("can be changed by other users");
  }

  @Test
  void aLinkInPlaceOfTheFolderIsRefused() throws Exception {
    var link = Files.createSymbolicLink(temporary.resolve("link"), home);

    assertThatThrownBy(() -> new UnpackBinaries(link, EXPECTED).unpackAndVerify())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("a link");
  }

  @Test
  void aFolderThatAnotherUserMadeFirstIsRefused() throws Exception {
    assumeThat(CurrentUser.isRoot()).as("only root can give files to another user").isTrue();
    var planted =
        Files.createDirectories(home.resolve(EXPECTED.folderName()).resolve("bin")).getParent();
    Files.writeString(planted.resolve("bin/initdb"), "#!/bin/sh\ntouch /tmp/owned\n");
    giveToNobody(planted);

    assertThatThrownBy(() -> new UnpackBinaries(home, EXPECTED).unpackAndVerify())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("belongs to nobody");
    giveToNobody(home);
    assertThatThrownBy(() -> new UnpackBinaries(home, EXPECTED).unpackAndVerify())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("belongs to nobody");
  }

  @Test
  void anArchiveThatThisReleaseDoesNotKnowIsRefused() {
    var unknown = new BinariesDigest(UnpackBinaries.platform(), "0".repeat(64));

    assertThatThrownBy(() -> new UnpackBinaries(home, unknown).unpackAndVerify())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("not those of this release");
    assertThat(home.resolve(unknown.folderName())).doesNotExist();
  }

  private static void giveToNobody(Path path) throws Exception {
    var nobody =
        path.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
    Files.setOwner(path, nobody);
  }

  private static java.nio.file.attribute.FileAttribute<?> mode(String permissions) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
  }
}
