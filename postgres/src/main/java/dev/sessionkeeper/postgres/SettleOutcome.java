package dev.sessionkeeper.postgres;

import org.jspecify.annotations.Nullable;

/**
 * What became of a {@link SettleCall}.
 *
 * @param detail depends on the name; may be missing
 * @param sequence the message that the outcome is about, if it is about one
 */
record SettleOutcome(String name, @Nullable Long detail, long sequence) {}
