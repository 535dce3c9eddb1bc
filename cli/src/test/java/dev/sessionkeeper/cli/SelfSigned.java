package dev.sessionkeeper.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;

/**
 * A self-signed certificate with its key, as PEM files; made by keytool.
 *
 * @param certificate also the file of the authority
 */
record SelfSigned(Path certificate, Path key) {
  private static final String PASSWORD = "changeit";

  static SelfSigned create(Path folder, String name) throws Exception {
    return create(folder, name, "now", 90);
  }

  /**
   * Creates a certificate whose life begins at a time that keytool understands, such as {@code
   * -9d}.
   */
  static SelfSigned create(Path folder, String name, String start, int days) throws Exception {
    var store = folder.resolve(name + ".p12");
    var process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=" + name,
                    "-ext",
                    "san=ip:127.0.0.1",
                    "-startdate",
                    start.equals("now") ? "-0d" : start,
                    "-validity",
                    String.valueOf(days),
                    "-keystore",
                    store.toString(),
                    "-storepass",
                    PASSWORD,
                    "-alias",
                    name))
            .redirectErrorStream(true)
            .start();
    var said = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) {
      throw new IOException(said);
    }
    var keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    return new SelfSigned(
        pem(folder.resolve(name + ".pem"), "CERTIFICATE", keys.getCertificate(name).getEncoded()),
        pem(
            folder.resolve(name + ".key"),
            "PRIVATE KEY",
            keys.getKey(name, PASSWORD.toCharArray()).getEncoded()));
  }

  private static Path pem(Path file, String kind, byte[] bytes) throws IOException {
    var text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return Files.writeString(
        file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
  }
}
