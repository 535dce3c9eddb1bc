/**
 * Verifies, reads, normalises and routes GitHub webhooks.
 *
 * <p>Pure logic: no network, no database, no clock. {@link dev.sessionkeeper.github.ReadDelivery}
 * turns a request into a {@link dev.sessionkeeper.github.GitHubEvent}, a {@link
 * dev.sessionkeeper.github.Subscription} decides whether a {@link dev.sessionkeeper.github.Bot}
 * receives it and why, and {@link dev.sessionkeeper.github.BuildMessage} creates the bot's message.
 */
@NullMarked
package dev.sessionkeeper.github;

import org.jspecify.annotations.NullMarked;
