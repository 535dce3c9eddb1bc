package dev.sessionkeeper.registry;

/** What happened to registered sessions on this node, for metrics. */
public sealed interface RegistryEvent {
  /** A session began because its key had none. */
  record Created(int kind) implements RegistryEvent {}

  /** A session began in place of one of a lower kind. */
  record Upgraded(int kind) implements RegistryEvent {}

  /** The session that was there was given out. */
  record Found(int kind) implements RegistryEvent {}

  /** The sweep ended a session that was past its end. */
  record Expired(int kind) implements RegistryEvent {}

  /** Someone ended a session. */
  record Ended(int kind) implements RegistryEvent {}

  /** Someone made a session live longer. */
  record Renewed(int kind) implements RegistryEvent {}
}
