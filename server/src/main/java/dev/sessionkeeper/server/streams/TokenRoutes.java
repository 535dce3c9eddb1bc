package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.security.StreamTokens;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Grants short-lived tokens for one stream, for browsers whose EventSource sends no header. */
final class TokenRoutes {
  private static final Duration LEAST = Duration.ofSeconds(5);
  private static final Duration MOST = Duration.ofHours(1);
  private static final Duration USUAL = Duration.ofMinutes(5);

  private final StreamTokens tokens;
  private final TimeSource time;

  TokenRoutes(StreamTokens tokens, TimeSource time) {
    this.tokens = tokens;
    this.time = time;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/streams/{stream}/tokens", Role.READ, Scope.streams(), this::grant)
            .summary("A token that reads this stream, and nothing else, for a short time")
            .query(
                "subscriber",
                "The one subscriber that the bearer may read and acknowledge as",
                Role.CONSUME)
            .takes(Wish.class)
            .answers(201, "The token", Granted.class));
  }

  /** The requested lifetime of the token. */
  record Wish(Optional<Duration> ttl) {
    static Wish read(Fields in) {
      var ttl = in.optional("ttl", Decode.duration(LEAST, MOST));
      in.check();
      return new Wish(ttl.get());
    }
  }

  /** A token that was granted. */
  record Granted(String token, Instant expiresAt) {}

  private record Name(Optional<String> subscriber) {
    static Name read(Fields in) {
      var name = in.optional("subscriber", Decode.text(128).map(ReadRequest::name));
      in.check();
      return new Name(name.get());
    }
  }

  private Response grant(Request request) {
    var stream = StreamRoutes.named(request);
    var subscriber = request.query(Name::read).subscriber();
    var ttl = request.json(Wish::read).ttl().orElse(USUAL);
    var wished = time.instant().plus(ttl);
    var expiresAt = request.credentialEnd().filter(wished::isAfter).orElse(wished);
    var grant =
        StreamTokens.Grant.of(
            request.actor().name(), request.reach(), stream, subscriber, expiresAt);
    return Response.created(new Granted(tokens.sign(grant), expiresAt));
  }
}
