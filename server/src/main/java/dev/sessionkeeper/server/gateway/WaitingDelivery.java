package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.EventId;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A webhook delivery whose sender waits for the answer.
 *
 * @param bots the matching bots
 */
record WaitingDelivery(
    NewDelivery added, List<Bot> bots, CompletableFuture<AcceptDelivery.Outcome> answer) {
  WaitingDelivery(NewDelivery added, List<Bot> bots) {
    this(added, bots, new CompletableFuture<>());
  }

  EventId id() {
    return added.event().id();
  }
}
