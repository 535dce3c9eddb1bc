package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.Match;

/** Whether a bot received an event, and the pattern that decided, or why not. */
record Verdict(String bot, boolean matched, String explanation) {
  static Verdict of(Bot bot, GitHubEvent event) {
    var match = bot.subscription().match(event);
    return new Verdict(bot.name(), match instanceof Match.Matched, match.explanation());
  }
}
