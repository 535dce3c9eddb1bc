package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.Match;

/** The decision whether a bot received an event, with the pattern or reason that decided. */
record Verdict(String bot, boolean matched, String explanation) {
  static Verdict of(Bot bot, GitHubEvent event) {
    var match = bot.subscription().match(event);
    return new Verdict(bot.name(), match instanceof Match.Matched, match.explanation());
  }
}
