package dev.sessionkeeper.github;

import java.util.OptionalLong;

/**
 * The repository an event belongs to.
 *
 * @param fullName {@code owner/name} as the payload gives it; changes with a rename or transfer
 * @param id GitHub's number, which never changes
 */
public record RepositoryRef(String fullName, OptionalLong id) {}
