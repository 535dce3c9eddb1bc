package dev.sessionkeeper.server.config;

/**
 * A key whose value differs from the one in force.
 *
 * @param path such as {@code usage.interval}
 */
public record ConfigChange(String path, boolean needsRestart) {}
