package dev.sessionkeeper.cli;

import dev.sessionkeeper.server.config.TlsFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of a command: the trusted authority, and the command's own certificate.
 *
 * @param authority the only trusted authority; if empty, those of the Java runtime
 */
record ClientTls(Optional<Path> authority, Optional<Path> certificate, Optional<Path> key) {

  /** Returns the TLS context for the HTTP client; empty if Java's default suffices. */
  Optional<SSLContext> context() {
    if (certificate.isPresent() != key.isPresent()) {
      throw new IllegalArgumentException("--cert and --cert-key go together; one is missing");
    }
    if (authority.isEmpty() && certificate.isEmpty()) {
      return Optional.empty();
    }
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(keys(), trusted(), null);
      return Optional.of(context);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("The certificates cannot be used: " + e.getMessage(), e);
    }
  }

  private KeyManager @Nullable [] keys() throws GeneralSecurityException {
    if (certificate.isEmpty() || key.isEmpty()) {
      return null;
    }
    var chain = named("--cert", () -> TlsFiles.read(certificate.get()));
    var secret = named("--cert-key", () -> TlsFiles.read(key.get()));
    var store =
        named("--cert-key", () -> TlsFiles.keyStore(certificate.get(), chain, key.get(), secret));
    var factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, TlsFiles.password());
    return factory.getKeyManagers();
  }

  private TrustManager @Nullable [] trusted() throws GeneralSecurityException, IOException {
    if (authority.isEmpty()) {
      return null;
    }
    var file = authority.get();
    var all = named("--ca", () -> TlsFiles.certificates(file, TlsFiles.read(file)));
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    for (int i = 0; i < all.size(); i++) {
      store.setCertificateEntry("authority-" + i, all.get(i));
    }
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  private static <T> T named(String option, java.util.function.Supplier<T> read) {
    try {
      return read.get();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(option + " " + e.getMessage(), e);
    }
  }
}
