/**
 * Posts to foreign endpoints: signed, to a checked address, with a bounded answer.
 *
 * <p>Push delivery and usage delivery both use {@link dev.sessionkeeper.webhook.WebhookSender}.
 */
@NullMarked
package dev.sessionkeeper.webhook;

import org.jspecify.annotations.NullMarked;
