package dev.sessionkeeper.testkit;

import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.spi.ResumableSessions;
import java.util.Map;

/** Explains what a provider cannot do because it lacks an optional interface. */
final class Abilities {
  private static final Map<Class<?>, String> MISSING =
      Map.of(
          AddressableSessions.class, "this provider cannot lease a chosen session",
          ResumableSessions.class, "another process cannot continue a lease of this provider",
          InspectableQueues.class, "this provider cannot list sessions",
          OperableSessions.class, "this provider has no operator acts",
          DeadLetterQueues.class, "this provider cannot list dead letters",
          RemovableQueues.class, "this provider cannot delete or purge queues");

  private Abilities() {}

  static String missing(Class<?> ability) {
    return MISSING.getOrDefault(ability, "this provider has no " + ability.getSimpleName());
  }
}
