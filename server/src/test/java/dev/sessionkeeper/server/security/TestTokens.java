package dev.sessionkeeper.server.security;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.function.UnaryOperator;

/** An OpenID Connect provider for tests: one signing key, its JWKS file, and tokens on demand. */
final class TestTokens {
  private final ECKey key;
  private final Path jwks;

  private TestTokens(ECKey key, Path jwks) {
    this.key = key;
    this.jwks = jwks;
  }

  static TestTokens in(Path folder) {
    try {
      var key = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
      return new TestTokens(
          key, Files.writeString(folder.resolve("jwks.json"), new JWKSet(key).toString()));
    } catch (IOException | JOSEException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the line {@code jwt: …} of the section security, with these further fields. */
  String yaml(String more) {
    return "  jwt: { issuer: \"https://id.example\", audience: keeper, algorithms: [ES256], jwks_file: \"%s\"%s }\n"
        .formatted(jwks, more);
  }

  /** Returns a token of the subject {@code ann} with the role admin, with changed claims. */
  String token(UnaryOperator<JWTClaimsSet.Builder> change) {
    var claims =
        new JWTClaimsSet.Builder()
            .subject("ann")
            .issuer("https://id.example")
            .audience("keeper")
            .expirationTime(Date.from(Instant.parse("2100-01-01T00:00:00Z")))
            .claim("roles", List.of("admin"));
    // Null claims are kept, because an attacker may cause one.
    var token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k1").build(),
            change.apply(claims).serializeNullClaims(true).build());
    try {
      token.sign(new ECDSASigner(key));
    } catch (JOSEException e) {
      throw new AssertionError(e);
    }
    return token.serialize();
  }
}
