package dev.sessionkeeper.server.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.time.TimeSource;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks tokens: signature, algorithm, issuer, audience, expiry. Never waits for the network. */
final class VerifyTokens {
  /**
   * The prefix of token subjects in the audit log and rate limits, which distinguishes them from
   * names of keys.
   */
  static final String PREFIX = "token:";

  private static final int MAX_SUBJECT = 100;
  private static final Logger log = LoggerFactory.getLogger(VerifyTokens.class);

  private final JwtConfig config;
  private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();

  VerifyTokens(JwtConfig config, TokenKeys keys, TimeSource time) {
    this.config = config;
    var algorithms =
        config.algorithms().stream().map(JWSAlgorithm::parse).collect(Collectors.toSet());
    processor.setJWSKeySelector(new JWSVerificationKeySelector<>(algorithms, keys));
    processor.setJWSTypeVerifier(
        new DefaultJOSEObjectTypeVerifier<>(
            Set.of(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"))) {
          @Override
          public void verify(@Nullable JOSEObjectType type, SecurityContext context)
              throws BadJOSEException {
            if (type != null) { // The type is optional in older tokens.
              super.verify(type, context);
            }
          }
        });
    processor.setJWTClaimsSetVerifier(
        new DefaultJWTClaimsVerifier<>(
            config.audience(),
            new JWTClaimsSet.Builder().issuer(config.issuer()).build(),
            Set.of("exp", "sub")) {
          @Override
          protected Date currentTime() {
            return Date.from(time.instant());
          }
        });
  }

  /** The result of checking a token. */
  sealed interface Verdict {
    record Believed(Caller caller, Instant until) implements Verdict {}

    /** The signature is valid, but the claims are not sufficient. */
    record Unusable(String why) implements Verdict {}

    record Unknown() implements Verdict {}
  }

  /** Returns the caller that the token names, or why the token is not accepted. */
  Verdict callerOf(String token) {
    JWTClaimsSet claims;
    try {
      claims = processor.process(token, null);
    } catch (ParseException | BadJOSEException | JOSEException | IllegalArgumentException e) {
      log.debug("A token was refused: {}", e.getMessage());
      return new Verdict.Unknown();
    }
    try {
      var reach = Reach.of(tenant(claims), Optional.empty());
      var until = claims.getExpirationTime().toInstant();
      return new Verdict.Believed(
          new Caller(PREFIX + subject(claims), roles(claims), reach, Optional.of(until)), until);
    } catch (ParseException | IllegalArgumentException e) {
      log.debug("A token with wrong claims was refused: {}", e.getMessage());
      return new Verdict.Unusable(
          "The token's claims cannot be used: " + String.valueOf(e.getMessage()));
    }
  }

  private static String subject(JWTClaimsSet claims) {
    var subject = claims.getSubject();
    if (subject == null
        || subject.isBlank()
        || subject.length() > MAX_SUBJECT
        || subject.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "sub must have 1 to " + MAX_SUBJECT + " characters, none of them a control character");
    }
    return subject;
  }

  private Set<Role> roles(JWTClaimsSet claims) throws ParseException {
    List<String> named = claims.getStringListClaim(config.rolesClaim());
    var roles = EnumSet.noneOf(Role.class);
    for (var role : Role.values()) {
      if (role != Role.ANYONE && named != null && named.contains(role.key())) {
        roles.add(role);
      }
    }
    return roles;
  }

  /** A missing or malformed claim never widens what the token reaches. */
  private Optional<UUID> tenant(JWTClaimsSet claims) {
    var claim = config.tenantClaim();
    if (!config.boundToTenant()) {
      if (claims.getClaims().containsKey(claim)) {
        throw new IllegalArgumentException(
            claim + " binds it to a tenant, but security.jwt.bound_to_tenant is false");
      }
      return Optional.empty();
    }
    if (!(claims.getClaim(claim) instanceof String text)) {
      throw new IllegalArgumentException(claim + " must be there and be the GUID of a tenant");
    }
    try {
      return Optional.of(TenantIds.require(Decode.parseGuid(text)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(claim + " " + e.getMessage(), e);
    }
  }
}
