package dev.sessionkeeper.server.http;

import dev.sessionkeeper.store.Actor;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The caller of a request, as proven by its credential. Handlers do not see it: they get an actor
 * for the audit log and a reach for their rows.
 *
 * @param name for the audit log and the rate limit; never the secret
 * @param reach the tenants and queues that exist for the caller
 * @param until when the credential ends; empty where it names no end
 */
public record Caller(String name, Set<Role> roles, Reach reach, Optional<Instant> until) {
  /** The caller of an open server on loopback. */
  public static final Caller LOCAL =
      new Caller(Actor.LOCAL, EnumSet.of(Role.ADMIN), Reach.EVERYTHING);

  /** A caller without credential, at a route that asks for none. */
  public static final Caller ANONYMOUS = new Caller("anonymous", Set.of(), Reach.NOTHING);

  public Caller {
    roles = Set.copyOf(roles);
  }

  /** A caller whose credential names no end. */
  public Caller(String name, Set<Role> roles, Reach reach) {
    this(name, roles, reach, Optional.empty());
  }

  /** Returns whether one of the caller's roles is enough for this one. */
  public boolean has(Role role) {
    return role.isGrantedBy(roles);
  }
}
