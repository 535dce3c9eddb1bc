package dev.sessionkeeper.postgres.settle;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a {@link SettleCall}.
 *
 * @param detail depends on the name; may be missing
 * @param sequence the message that the outcome is about, if it is about one
 */
public record SettleOutcome(String name, @Nullable Long detail, long sequence) {}
