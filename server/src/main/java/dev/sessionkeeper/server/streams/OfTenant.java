package dev.sessionkeeper.server.streams;

import java.util.UUID;
import java.util.function.Predicate;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Accepts events of one tenant, by the {@code tenantObjectId} of their data. */
record OfTenant(UUID tenant) implements Predicate<StreamEvent> {
  private static final String FIELD = "tenantObjectId";

  @Override
  public boolean test(StreamEvent event) {
    try {
      var data = JsonMapper.shared().readTree(event.data());
      return tenant.toString().equalsIgnoreCase(data.path(FIELD).asString(""));
    } catch (JacksonException e) {
      return false; // An event in another format belongs to no tenant.
    }
  }
}
