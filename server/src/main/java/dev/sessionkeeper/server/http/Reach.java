package dev.sessionkeeper.server.http;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.store.EventLog;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The tenants and queues that a credential reaches.
 *
 * <p>Queues belong to no tenant. So a credential that is bound to a tenant reaches only the queues
 * that it names, and one that is bound to queues alone reaches no tenant.
 */
public record Reach(TenantFilter tenants, QueueFilter queues) {
  /** Reaches everything, including the server itself. */
  public static final Reach EVERYTHING = new Reach(new TenantFilter.All(), new QueueFilter.All());

  /** Reaches no tenant and no queue. */
  public static final Reach NOTHING =
      new Reach(new TenantFilter.None(), new QueueFilter.Only(Set.of()));

  /** Returns the reach of a credential with these bindings; without any, everything. */
  public static Reach of(Optional<UUID> tenant, Optional<Set<QueueName>> queues) {
    if (tenant.isEmpty() && queues.isEmpty()) {
      return EVERYTHING;
    }
    return new Reach(
        tenant.<TenantFilter>map(TenantFilter.Only::new).orElseGet(TenantFilter.None::new),
        new QueueFilter.Only(queues.orElse(Set.of())));
  }

  /** Returns whether the credential is bound to no tenant and to no queue. */
  public boolean isEverything() {
    return equals(EVERYTHING);
  }

  /** Returns the tenants to list: the requested one if it is within reach, or all within reach. */
  public TenantFilter tenants(Optional<UUID> asked) {
    if (asked.isEmpty()) {
      return tenants;
    }
    return includes(asked.get()) ? new TenantFilter.Only(asked.get()) : new TenantFilter.None();
  }

  /** Returns whether rows of this tenant exist for the caller. */
  public boolean includes(UUID tenant) {
    return tenants.includes(tenant);
  }

  /** Returns whether this queue exists for the caller. */
  public boolean includes(QueueName queue) {
    return queues.includes(queue);
  }

  /**
   * Returns whether a stream as a whole exists for the caller. {@code tenant.<id>} and all names
   * that begin with {@code tenant.<id>.} belong to that tenant, all others to the whole server.
   */
  public boolean includesStream(String name) {
    return isEverything()
        || (tenants instanceof TenantFilter.Only only
            && (name + ".").startsWith(streamPrefix(only.tenant())));
  }

  /** Returns whether events of a stream exist for the caller, at least those of its own tenant. */
  public boolean includesEventsOf(String stream) {
    return includesStream(stream)
        || (stream.equals(EventLog.REGISTRY) && tenants instanceof TenantFilter.Only);
  }

  /** Returns the prefix of the names of a tenant's streams. */
  public static String streamPrefix(UUID tenant) {
    return "tenant." + tenant + ".";
  }

  /**
   * Refuses a caller that names a tenant out of its reach.
   *
   * @throws ProblemException 403
   */
  public void requireTenant(UUID tenant) {
    if (!includes(tenant)) {
      throw ProblemType.FORBIDDEN
          .with("This credential is bound to another tenant; name its own tenant")
          .toException();
    }
  }
}
