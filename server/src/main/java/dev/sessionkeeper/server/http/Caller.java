package dev.sessionkeeper.server.http;

import dev.sessionkeeper.store.Actor;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The caller of a request, as its credential proves. Handlers do not see it: they get an actor for
 * the audit log and a reach for their rows.
 *
 * @param name for the audit log and the rate limit; never the secret
 * @param reach the tenants and queues that exist for the caller
 * @param until when the credential expires; empty if it does not
 */
public record Caller(String name, Set<Role> roles, Reach reach, Optional<Instant> until) {
  /** The caller of a server without credentials on loopback. */
  public static final Caller LOCAL =
      new Caller(Actor.LOCAL, EnumSet.of(Role.ADMIN), Reach.EVERYTHING);

  /** A caller without a credential, on a route that requires none. */
  public static final Caller ANONYMOUS = new Caller("anonymous", Set.of(), Reach.NOTHING);

  public Caller {
    roles = Set.copyOf(roles);
  }

  /** Creates a caller whose credential does not expire. */
  public Caller(String name, Set<Role> roles, Reach reach) {
    this(name, roles, reach, Optional.empty());
  }

  /** Returns whether one of the caller's roles grants this role. */
  public boolean has(Role role) {
    return role.isGrantedBy(roles);
  }
}
