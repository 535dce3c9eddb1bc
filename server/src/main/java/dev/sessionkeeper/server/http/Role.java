package dev.sessionkeeper.server.http;

import java.util.Locale;
import java.util.Set;

/** A set of rights. Each route requires one role. */
public enum Role {
  /** No credential is asked for: health, the API description, and calls that are signed instead. */
  ANYONE,
  /** Look at queues, sessions, dead letters, events, usage. */
  READ,
  /** Send messages and append events. */
  SEND,
  /** Take leases, receive and settle. */
  CONSUME,
  /** Step in: pause, park, replay. Includes {@link #READ}. */
  OPERATE,
  /** Everything, including the creation of queues. */
  ADMIN;

  /** Returns whether one of these roles is enough for a route that asks for this role. */
  public boolean isGrantedBy(Set<Role> roles) {
    return this == ANYONE
        || roles.contains(this)
        || roles.contains(ADMIN)
        || (this == READ && roles.contains(OPERATE));
  }

  /** As written in the configuration. */
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }
}
