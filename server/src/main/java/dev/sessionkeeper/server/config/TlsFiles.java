package dev.sessionkeeper.server.config;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.impl.KeyStoreHelper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads PEM files for TLS, and refuses files with which no handshake can succeed.
 *
 * <p>Each refusal is an {@link IllegalArgumentException} whose message continues the name of the
 * key or option: "names the file …".
 */
public final class TlsFiles {
  private static final int MOST_BYTES = 1 << 20;
  private static final byte[] SAMPLE = "sessionkeeper".getBytes(StandardCharsets.UTF_8);

  private TlsFiles() {}

  /** Reads a file that holds PEM text. */
  public static String read(Path file) {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new IllegalArgumentException("names the file " + file + ", which is too large");
      }
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("names the file " + file + ", which does not exist", e);
    } catch (AccessDeniedException e) {
      throw new IllegalArgumentException(
          "names the file " + file + ", which this process may not read", e);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "names the file " + file + ", which cannot be read as PEM text: " + e.getMessage(), e);
    }
  }

  /** Reads the certificates of a PEM text; there is at least one. */
  public static List<? extends Certificate> certificates(Path file, String pem) {
    try {
      Collection<? extends Certificate> all =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)));
      if (!all.isEmpty()) {
        return List.copyOf(all);
      }
      throw new IllegalArgumentException("names the file " + file + ", which has no certificate");
    } catch (CertificateException e) {
      throw new IllegalArgumentException(
          "names the file " + file + ", which is no certificate in PEM: " + e.getMessage(), e);
    }
  }

  /** Returns when the first certificate of a PEM text ends. */
  public static Instant end(Path file, String pem) {
    return certificates(file, pem).stream()
        .filter(X509Certificate.class::isInstance)
        .map(certificate -> ((X509Certificate) certificate).getNotAfter().toInstant())
        .min(Comparator.naturalOrder())
        .orElse(Instant.MAX);
  }

  /** Joins a private key and its certificates, without checking that they belong together. */
  private static KeyStore join(Path keyFile, String keyPem, String certificatePem) {
    try {
      return KeyStoreHelper.loadKeyCert(
          List.of(Buffer.buffer(keyPem)), List.of(Buffer.buffer(certificatePem)));
    } catch (Exception e) {
      throw new IllegalArgumentException(
          "names the file " + keyFile + ", which is no private key in PEM: " + e.getMessage(), e);
    }
  }

  /**
   * Joins a private key and the certificates that were issued for it.
   *
   * @return a key store with one entry, whose password is {@link #password()}
   */
  public static KeyStore keyStore(
      Path certificateFile, String certificatePem, Path keyFile, String keyPem) {
    certificates(certificateFile, certificatePem);
    var store = join(keyFile, keyPem, certificatePem);
    try {
      var alias = store.aliases().nextElement();
      var key = (PrivateKey) store.getKey(alias, password());
      if (isPair(key, store.getCertificate(alias).getPublicKey())) {
        return store;
      }
    } catch (GeneralSecurityException e) {
      throw doesNotFit(certificateFile, keyFile, e);
    }
    throw doesNotFit(certificateFile, keyFile, null);
  }

  public static char[] password() {
    return KeyStoreHelper.DUMMY_PASSWORD.toCharArray();
  }

  private static IllegalArgumentException doesNotFit(
      Path certificate, Path key, @Nullable Exception cause) {
    return new IllegalArgumentException(
        "names the file "
            + key
            + ", which does not fit the certificate in "
            + certificate
            + "; name the private key that the certificate was issued for",
        cause);
  }

  private static boolean isPair(PrivateKey key, PublicKey certified)
      throws GeneralSecurityException {
    if (!key.getAlgorithm().equals(certified.getAlgorithm())) {
      return false;
    }
    var algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    var signer = Signature.getInstance(algorithm);
    signer.initSign(key);
    signer.update(SAMPLE);
    var signature = signer.sign();
    var verifier = Signature.getInstance(algorithm);
    verifier.initVerify(certified);
    verifier.update(SAMPLE);
    try {
      return verifier.verify(signature);
    } catch (SignatureException e) {
      return false; // A signature of another length cannot come from this key.
    }
  }
}
