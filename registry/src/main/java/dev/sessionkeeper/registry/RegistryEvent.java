package dev.sessionkeeper.registry;

/** An event of a registered session on this node, for metrics. */
public sealed interface RegistryEvent {
  /** A session began because its key had none. */
  record Created(int kind) implements RegistryEvent {}

  /** A session began in place of one of a lower kind. */
  record Upgraded(int kind) implements RegistryEvent {}

  /** An existing session was returned. */
  record Found(int kind) implements RegistryEvent {}

  /** The sweep ended an expired session. */
  record Expired(int kind) implements RegistryEvent {}

  /** A caller ended a session. */
  record Ended(int kind) implements RegistryEvent {}

  /** A caller renewed a session. */
  record Renewed(int kind) implements RegistryEvent {}
}
