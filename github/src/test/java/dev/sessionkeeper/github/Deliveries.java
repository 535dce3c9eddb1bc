package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.github.ReadResult.Accepted;
import dev.sessionkeeper.github.ReadResult.Refused;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/** Signed deliveries as GitHub sends them, read with the real reader. */
final class Deliveries {
  static final String SECRET = "It's a Secret to Everybody";
  static final String ID = "72d3162e-cc78-11e3-81ab-4c9367dc0958";
  static final ReadDelivery READER = ReadDelivery.create(GitHubSignature.of(List.of(SECRET)));

  private Deliveries() {}

  static GitHubEvent event(String type, String json) {
    return event(type, json.getBytes(UTF_8));
  }

  static GitHubEvent event(String type, byte[] json) {
    return switch (READER.read(signed(type, "application/json", json))) {
      case Accepted accepted -> accepted.event();
      case Refused refused -> throw new AssertionError(refused.toString());
    };
  }

  /**
   * Returns an event of the repository acme/app with number 42; the rest of the payload as given.
   */
  static GitHubEvent inApp(String type, String rest) {
    return event(
        type,
        "{\"repository\":{\"id\":42,\"full_name\":\"acme/app\"}"
            + (rest.isEmpty() ? "" : "," + rest.replace('\'', '"'))
            + "}");
  }

  static RawDelivery signed(String type, String contentType, byte[] body) {
    return new RawDelivery(
        Optional.of(type),
        Optional.of(ID),
        Optional.of(GitHubSignature.sign(SECRET, body)),
        Optional.of(contentType),
        body);
  }

  static String entitySession(GitHubEvent event) {
    return session(event, Ordering.by(OrderingScope.ENTITY));
  }

  static String repositorySession(GitHubEvent event) {
    return session(event, Ordering.by(OrderingScope.REPOSITORY));
  }

  static String session(GitHubEvent event, Ordering ordering) {
    return ordering.sessionOf(event).orElseThrow().value();
  }

  /** Returns the lines of a test resource without comments; a name that ends in .gz is unpacked. */
  static List<String> lines(String resource) {
    try (var raw =
            Objects.requireNonNull(Deliveries.class.getResourceAsStream(resource), resource);
        var in = resource.endsWith(".gz") ? new GZIPInputStream(raw) : raw;
        var reader = new BufferedReader(new InputStreamReader(in, UTF_8))) {
      return reader.lines().filter(line -> !line.startsWith("#")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
