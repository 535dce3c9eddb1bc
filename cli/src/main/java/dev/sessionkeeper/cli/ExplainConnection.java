package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;

/** Explains why a server could not be reached, and what to do. */
final class ExplainConnection {
  private static String start() {
    return ". Is it running? Start one with: " + Keeper.command() + " serve";
  }

  private static final Pattern ADDRESS = Pattern.compile("https?://[^\\s;]+");

  private ExplainConnection() {}

  /** Returns one or two sentences about a call without an answer. */
  static String of(KeeperException failure) {
    var said = String.valueOf(failure.getMessage()).replaceFirst("^\\[SK-\\d+] ", "");
    var found = ADDRESS.matcher(said);
    var address = found.find() ? found.group() : "the server";
    var why = reason(failure, address);
    return failure instanceof KeeperException.OutcomeUnknown
        ? said + ". The cause: " + why
        : "Cannot reach " + address + ": " + why;
  }

  private static String reason(KeeperException failure, String address) {
    var tls = find(SSLException.class, failure);
    if (tls.isPresent()) {
      return tlsReason(tls.get(), failure);
    }
    if (find(UnresolvedAddressException.class, failure).isPresent()
        || find(UnknownHostException.class, failure).isPresent()) {
      return "the host is unknown. Check the address in --url or KEEPER_URL.";
    }
    if (find(HttpConnectTimeoutException.class, failure).isPresent()) {
      return "no connection in time. Check the network, and the address in --url or KEEPER_URL.";
    }
    if (find(HttpTimeoutException.class, failure).isPresent()) {
      return "no answer in time. Check the server's log.";
    }
    if (find(ConnectException.class, failure).isPresent()) {
      return "connection refused" + start();
    }
    if (isCutOff(failure) && address.startsWith("http:")) {
      return "it closed the connection without an answer. If it speaks TLS, use https:// in --url"
          + " or KEEPER_URL.";
    }
    return find(IOException.class, failure)
        .map(e -> e.getMessage() == null ? e.toString() : e.getMessage())
        .map(words -> words + start())
        .orElse("no answer" + start());
  }

  private static String tlsReason(SSLException tls, Throwable failure) {
    var words = allWords(failure);
    if (words.contains("certification path") || words.contains("pkix")) {
      return words.contains("expired")
          ? "its certificate has expired. Renew it on the server."
          : "its certificate is signed by an authority that this command does not know. Name the"
              + " authority's certificate with --ca FILE or KEEPER_CA.";
    }
    if (words.contains("no subject alternative") || words.contains("no name matching")) {
      return "its certificate is for another name ("
          + String.valueOf(tls.getMessage()).replaceFirst("^\\(\\w+\\) ", "")
          + "). Use a name of the certificate in --url or KEEPER_URL.";
    }
    if (words.contains("unrecognized ssl message") || words.contains("plaintext")) {
      return "it speaks HTTP without TLS. Use http:// in --url or KEEPER_URL.";
    }
    if (words.contains("bad_certificate") || words.contains("certificate_required")) {
      return "it asks for a client certificate that it believes. Name yours with --cert FILE and"
          + " --cert-key FILE.";
    }
    return "TLS failed: " + tls.getMessage() + ".";
  }

  private static boolean isCutOff(Throwable failure) {
    return find(EOFException.class, failure).isPresent()
        || allWords(failure).contains("received no bytes")
        || allWords(failure).contains("connection reset")
        || allWords(failure).contains("parsing http/1.1 status line");
  }

  private static String allWords(Throwable failure) {
    var words = new StringBuilder();
    for (Throwable at = failure; at != null; at = at.getCause()) {
      words.append(at.getClass().getSimpleName()).append(' ').append(at.getMessage()).append('\n');
    }
    return words.toString().toLowerCase(Locale.ROOT);
  }

  private static <T extends Throwable> Optional<T> find(Class<T> type, Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (type.isInstance(at)) {
        return Optional.of(type.cast(at));
      }
    }
    return Optional.empty();
  }
}
