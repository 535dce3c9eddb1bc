package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.OrderingScope;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.github.ReadResult;
import dev.sessionkeeper.github.Subscription;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Stores deliveries without a server. */
final class Intake {
  static final List<Bot> BOTS =
      List.of(
          Bot.of("entity", Subscription.to(List.of("*")), OrderingScope.ENTITY),
          Bot.of("repository", Subscription.to(List.of("*")), OrderingScope.REPOSITORY),
          Bot.of("plain", Subscription.to(List.of("*")), OrderingScope.NONE));

  private Intake() {}

  /**
   * Returns an event of pull request 1 of acme/kill, long enough to have a shared payload. Each
   * body is unique, because the same body is routed once.
   */
  static GitHubEvent event(String deliveryId, int step) {
    var body =
        pull("acme/kill", 1, step)
            .replaceFirst("\\{", "{\"long\":\"" + deliveryId + "x".repeat(2000) + "\",")
            .getBytes(UTF_8);
    return ((ReadResult.Accepted) ReadDelivery.readAgain(raw("pull_request", deliveryId, body)))
        .event();
  }

  static NewDelivery delivery(GitHubEvent event) {
    // The exact bytes of the payload, as in a delivery that was just read.
    var raw = raw(event.type(), event.deliveryId(), event.payload().unsafeBytes());
    return new NewDelivery(event, raw, Map.of(), TraceContext.continuing(""), List.of());
  }

  private static RawDelivery raw(String type, String deliveryId, byte[] body) {
    return new RawDelivery(
        Optional.of(type),
        Optional.of(deliveryId),
        Optional.empty(),
        Optional.of("application/json"),
        body);
  }
}
