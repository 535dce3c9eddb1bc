/**
 * Calls to other people's endpoints: signed, to a checked address, with a bounded answer.
 *
 * <p>Push delivery and usage delivery both go through {@link
 * dev.sessionkeeper.webhook.WebhookSender}.
 */
@NullMarked
package dev.sessionkeeper.webhook;

import org.jspecify.annotations.NullMarked;
