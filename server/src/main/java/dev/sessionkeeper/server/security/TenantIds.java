package dev.sessionkeeper.server.security;

import java.util.UUID;

/** Checks the tenants that credentials are bound to. */
final class TenantIds {
  private static final UUID NIL = new UUID(0, 0);

  private TenantIds() {}

  /**
   * Returns the tenant.
   *
   * @throws IllegalArgumentException for the nil GUID, which usually means a forgotten value
   */
  static UUID require(UUID tenant) {
    if (tenant.equals(NIL)) {
      throw new IllegalArgumentException("must be the GUID of a tenant, and not the nil GUID");
    }
    return tenant;
  }
}
