package dev.sessionkeeper.server.http;

import dev.sessionkeeper.QueueName;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Who calls, as proven by the credential.
 *
 * @param name for the audit log and the rate limit; never the secret
 * @param tenant the only tenant whose data the caller sees; all where it is empty
 * @param queues the only queues the caller sees; all where it is empty
 */
public record Caller(
    String name, Set<Role> roles, Optional<UUID> tenant, Optional<Set<QueueName>> queues) {
  /** Whoever reaches an open server on loopback. */
  public static final Caller LOCAL =
      new Caller("local", EnumSet.of(Role.ADMIN), Optional.empty(), Optional.empty());

  /** Someone without credential, at a route that asks for none. */
  public static final Caller ANONYMOUS =
      new Caller("anonymous", Set.of(), Optional.empty(), Optional.of(Set.of()));

  public Caller {
    roles = Set.copyOf(roles);
    queues = queues.map(Set::copyOf);
  }

  public boolean has(Role role) {
    return role.isGrantedBy(roles);
  }

  /**
   * Whether this queue exists for the caller. Queues belong to no tenant, so a caller who is bound
   * to a tenant sees only those it is bound to by name.
   */
  public boolean sees(QueueName queue) {
    return queues.map(bound -> bound.contains(queue)).orElse(tenant.isEmpty());
  }

  /**
   * Refuses whoever is bound to a tenant or to queues.
   *
   * @param what is of the whole server, such as {@code Metrics are}
   * @throws ProblemException 403
   */
  public void requireUnbound(String what) {
    if (tenant.isPresent() || queues.isPresent()) {
      throw ProblemType.FORBIDDEN
          .with(what + " of the whole server; this credential is bound to a part of it")
          .toException();
    }
  }

  /** Whether rows of this tenant exist for the caller. */
  public boolean sees(UUID ofTenant) {
    return tenant.isEmpty() || tenant.get().equals(ofTenant);
  }
}
