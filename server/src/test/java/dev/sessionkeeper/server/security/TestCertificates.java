package dev.sessionkeeper.server.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate authority in a folder, with the certificates it issued as files; made by keytool.
 */
final class TestCertificates {
  private static final String PASSWORD = "changeit";

  private final Path folder;
  private final String authority;

  private TestCertificates(Path folder, String authority) {
    this.folder = folder;
    this.authority = authority;
  }

  /** Creates an authority of this name. */
  static TestCertificates create(Path folder, String name) throws Exception {
    var made = new TestCertificates(folder, name);
    made.keytool(
        name, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + name, "-ext", "bc:c=ca:true");
    made.writePem(name + ".pem", "CERTIFICATE", made.certificate(name).getEncoded());
    return made;
  }

  /** Creates a key pair with a certificate of this authority. */
  void sign(String name) throws Exception {
    keytool(name, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + name);
    keytool(name, "-certreq", "-file", file(name + ".csr"));
    keytool(
        authority,
        "-gencert",
        "-infile",
        file(name + ".csr"),
        "-outfile",
        file(name + ".crt"),
        "-ext",
        "san=ip:127.0.0.1,dns:localhost");
    run(name, authority, "-importcert", "-noprompt", "-file", file(authority + ".pem"));
    keytool(name, "-importcert", "-noprompt", "-file", file(name + ".crt"));
    writePem(name + ".pem", "CERTIFICATE", certificate(name).getEncoded());
    var key = store(name).getKey(name, PASSWORD.toCharArray());
    writePem(name + ".key", "PRIVATE KEY", key.getEncoded());
  }

  Path pem(String name) {
    return folder.resolve(name + ".pem");
  }

  Path key(String name) {
    return folder.resolve(name + ".key");
  }

  /** Returns the context of a client that trusts this authority and presents no certificate. */
  SSLContext client() throws Exception {
    return context(null);
  }

  /** Returns the context of a client that trusts this authority and presents this certificate. */
  SSLContext client(TestCertificates signer, String name) throws Exception {
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(signer.store(name), PASSWORD.toCharArray());
    return context(keys.getKeyManagers());
  }

  private SSLContext context(KeyManager[] keys) throws Exception {
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("authority", certificate(authority));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    var context = SSLContext.getInstance("TLS");
    context.init(keys, trust.getTrustManagers(), null);
    return context;
  }

  private Certificate certificate(String name) throws Exception {
    return store(name).getCertificate(name);
  }

  private KeyStore store(String name) throws GeneralSecurityException, IOException {
    return KeyStore.getInstance(folder.resolve(name + ".p12").toFile(), PASSWORD.toCharArray());
  }

  private String file(String name) {
    return folder.resolve(name).toString();
  }

  private void writePem(String name, String kind, byte[] bytes) throws IOException {
    var text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    Files.writeString(
        folder.resolve(name),
        "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
  }

  private void keytool(String name, String command, String... arguments) throws Exception {
    run(name, name, command, arguments);
  }

  private void run(String store, String alias, String command, String... arguments)
      throws Exception {
    var line = new ArrayList<String>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    line.add(command);
    line.addAll(
        List.of("-keystore", file(store + ".p12"), "-storepass", PASSWORD, "-alias", alias));
    line.addAll(List.of(arguments));
    var process = new ProcessBuilder(line).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) {
      throw new IOException(line + ": " + said);
    }
  }
}
