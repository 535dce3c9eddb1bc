package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionKind;
import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Kinds, prices and lifetime of registered sessions.
 *
 * @param expirySweep how often expired sessions are ended; correctness does not depend on it
 */
public record RegistryConfig(Duration lifetime, Duration expirySweep, List<SessionKind> kinds) {
  public static final ConfigSection<RegistryConfig> SECTION =
      ConfigSection.of("registry", RegistryConfig::read)
          .restart("lifetime", "expiry_sweep", "kinds");

  private static final BigDecimal MOST = new BigDecimal(1_000_000);

  private record Tariff(String name, BigDecimal factor) {
    static Tariff read(Fields in) {
      var name = in.required("name", Decode.text(100));
      var factor = in.required("factor", Decode.decimal(BigDecimal.ZERO, MOST));
      in.check();
      return new Tariff(name.get(), factor.get());
    }
  }

  static RegistryConfig read(Fields in, ConfigContext context) {
    var lifetime =
        in.optional(
            "lifetime",
            Duration.ofDays(30),
            Decode.duration(Duration.ofSeconds(1), Duration.ofDays(36_500)));
    var sweep =
        in.optional(
            "expiry_sweep",
            Duration.ofMinutes(10),
            Decode.duration(Duration.ofSeconds(1), Duration.ofDays(1)));
    var kinds =
        in.optional(
            "kinds",
            List.copyOf(RegistryOptions.defaults().kinds().values()),
            Decode.map(Decode.object(Tariff::read)).map(RegistryConfig::kinds));
    in.check();
    return new RegistryConfig(lifetime.get(), sweep.get(), kinds.get());
  }

  private static List<SessionKind> kinds(Map<String, Tariff> tariffs) {
    if (tariffs.isEmpty()) {
      throw new IllegalArgumentException("must have at least one kind");
    }
    var kinds = new ArrayList<SessionKind>();
    tariffs.forEach(
        (number, tariff) -> {
          if (!number.matches("[1-9][0-9]{0,3}")) {
            throw new IllegalArgumentException("must have numbers from 1 as names, was " + number);
          }
          kinds.add(new SessionKind(Integer.parseInt(number), tariff.name(), tariff.factor()));
        });
    return kinds;
  }
}
