package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.github.Bot;
import java.util.Optional;
import java.util.UUID;

/**
 * A message that was made of an event.
 *
 * @param replay the replay that made it; empty for the first one
 */
record RoutedMessage(
    String bot, String queue, Optional<String> sessionId, String messageId, Optional<UUID> replay) {
  static RoutedMessage of(Bot bot, Message message, Optional<UUID> replay) {
    return new RoutedMessage(
        bot.name(),
        bot.queue().value(),
        message.session().map(SessionId::value),
        message.id().value(),
        replay);
  }
}
