package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.BuildMessage;
import dev.sessionkeeper.github.GitHubEvent;
import java.util.Optional;
import java.util.UUID;

/**
 * A message made from an event.
 *
 * @param replay the replay that made it; empty for the message of the event's arrival
 */
record RoutedMessage(
    String bot, String queue, Optional<String> sessionId, String messageId, Optional<UUID> replay) {
  /** Returns the message that the event makes for the bot at its arrival. */
  static RoutedMessage first(GitHubEvent event, Bot bot) {
    return new RoutedMessage(
        bot.name(),
        bot.queue().value(),
        bot.ordering().sessionOf(event).map(SessionId::value),
        BuildMessage.idOf(event, bot).value(),
        Optional.empty());
  }

  static RoutedMessage of(Bot bot, Message message, Optional<UUID> replay) {
    return new RoutedMessage(
        bot.name(),
        bot.queue().value(),
        message.session().map(SessionId::value),
        message.id().value(),
        replay);
  }
}
