package dev.sessionkeeper.github;

import java.util.OptionalLong;

/**
 * The repository of an event.
 *
 * @param fullName {@code owner/name} as in the payload; changes with a rename or transfer
 * @param id GitHub's number, which never changes
 */
public record RepositoryRef(String fullName, OptionalLong id) {}
