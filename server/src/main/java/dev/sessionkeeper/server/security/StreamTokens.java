package dev.sessionkeeper.server.security;

import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.TenantFilter;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * Issues and verifies tokens for one stream. A token is a signed statement that a credential lets
 * its bearer read this stream, and acknowledge as one subscriber, for a short time.
 */
public final class StreamTokens {
  /** The prefix of every token, which distinguishes it from a key. */
  static final String PREFIX = "st_";

  private static final String KIND = "stream-token";
  private static final int PARTS = 5;

  private final SignTexts signer;

  public StreamTokens(ServerSecret secret) {
    this.signer = secret.signing(KIND);
  }

  /**
   * The content of a token.
   *
   * @param credential the credential that granted it
   * @param tenant the tenant that the credential is bound to
   * @param subscriber the subscriber as which the bearer may acknowledge
   */
  public record Grant(
      String credential,
      Optional<UUID> tenant,
      String stream,
      Optional<String> subscriber,
      Instant expiresAt) {

    /** Returns the grant of a credential that reaches the stream. */
    public static Grant of(
        String credential,
        Reach reach,
        String stream,
        Optional<String> subscriber,
        Instant expiresAt) {
      var tenant =
          reach.tenants() instanceof TenantFilter.Only only
              ? Optional.of(only.tenant())
              : Optional.<UUID>empty();
      return new Grant(credential, tenant, stream, subscriber, expiresAt);
    }
  }

  /** Returns the token of a grant. */
  public String sign(Grant grant) {
    var text =
        PageCursor.after(
            KIND,
            grant.stream(),
            grant.subscriber().orElse(""),
            grant.tenant().map(UUID::toString).orElse(""),
            Long.toString(grant.expiresAt().toEpochMilli()),
            grant.credential());
    return PREFIX + signer.sign(text);
  }

  /** Returns the grant of a token; empty if no server of this store signed it. */
  Optional<Grant> verify(String token) {
    return Optional.of(token)
        .filter(text -> text.startsWith(PREFIX))
        .flatMap(text -> signer.verify(text.substring(PREFIX.length())))
        .map(StreamTokens::read);
  }

  private static Grant read(String text) {
    var parts = PageCursor.keyOf(KIND, PARTS, text);
    return new Grant(
        parts.get(4),
        Optional.of(parts.get(2)).filter(tenant -> !tenant.isEmpty()).map(UUID::fromString),
        parts.get(0),
        Optional.of(parts.get(1)).filter(name -> !name.isEmpty()),
        Instant.ofEpochMilli(Long.parseLong(parts.get(3))));
  }
}
