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
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.time.TimeSource;
import java.text.ParseException;
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

  /** Who the token speaks of; empty when it is not to be believed. */
  Optional<Caller> callerOf(String token) {
    try {
      var claims = processor.process(token, null);
      return Optional.of(
          new Caller(claims.getSubject(), roles(claims), tenant(claims), Optional.empty()));
    } catch (ParseException | BadJOSEException | JOSEException | IllegalArgumentException e) {
      log.debug("A token was refused: {}", e.getMessage());
      return Optional.empty();
    }
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

  private Optional<UUID> tenant(JWTClaimsSet claims) throws ParseException {
    return Optional.ofNullable(claims.getStringClaim(config.tenantClaim())).map(UUID::fromString);
  }
}
