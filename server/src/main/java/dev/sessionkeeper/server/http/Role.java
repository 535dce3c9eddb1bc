package dev.sessionkeeper.server.http;

import java.util.Locale;
import java.util.Set;

/** A set of rights. Each route requires one role. */
public enum Role {
  /** No credential is required: health, the API description, and calls that are signed instead. */
  ANYONE,
  /** Read queues, sessions, dead letters, events and usage. */
  READ,
  /** Send messages and append events. */
  SEND,
  /** Take leases, receive and settle. */
  CONSUME,
  /** Act on sessions and queues: pause, park, replay. Includes {@link #READ}. */
  OPERATE,
  /** Everything, including the creation of queues. */
  ADMIN;

  /** Returns whether one of these roles grants this role. */
  public boolean isGrantedBy(Set<Role> roles) {
    return this == ANYONE
        || roles.contains(this)
        || roles.contains(ADMIN)
        || (this == READ && roles.contains(OPERATE));
  }

  /** Returns the name in the configuration. */
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }
}
