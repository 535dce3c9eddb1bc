package dev.sessionkeeper.server.http;

import java.util.UUID;

/** The tenants whose rows a list may show. No tenant id has the meaning "all" or "none". */
public sealed interface TenantFilter {

  record All() implements TenantFilter {}

  record Only(UUID tenant) implements TenantFilter {}

  record None() implements TenantFilter {}

  /** Returns whether the list may show rows of this tenant. */
  default boolean includes(UUID tenant) {
    return switch (this) {
      case All all -> true;
      case Only only -> only.tenant().equals(tenant);
      case None none -> false;
    };
  }
}
