/**
 * Verifies, reads, normalises and routes GitHub webhooks.
 *
 * <p>Pure logic: no network, no database, no clock. {@link dev.sessionkeeper.github.ReadDelivery}
 * turns a request into a {@link dev.sessionkeeper.github.GitHubEvent}, a {@link
 * dev.sessionkeeper.github.Subscription} says whether a {@link dev.sessionkeeper.github.Bot} wants
 * it and why, and {@link dev.sessionkeeper.github.BuildMessage} makes the bot's message.
 */
@NullMarked
package dev.sessionkeeper.github;

import org.jspecify.annotations.NullMarked;
