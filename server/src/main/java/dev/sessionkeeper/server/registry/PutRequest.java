package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.registry.SessionRequest;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.Fields;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** The user, capacity and kind of a requested session. */
record PutRequest(UUID userObjectId, UUID tenantObjectId, UUID capacityId, int sessionKind) {
  static PutRequest read(Fields in, Set<Integer> kinds) {
    var user = in.required("userObjectId", Decode.guid());
    var tenant = in.required("tenantObjectId", Decode.guid());
    var capacity = in.required("capacityId", Decode.guid());
    var kind = in.required("sessionKind", kind(kinds));
    in.check();
    return new PutRequest(user.get(), tenant.get(), capacity.get(), kind.get());
  }

  private static Decoder<Integer> kind(Set<Integer> kinds) {
    return Decode.integer(1, Integer.MAX_VALUE)
        .map(
            number -> {
              if (!kinds.contains(number)) {
                throw new IllegalArgumentException(
                    "must be one of " + new TreeSet<>(kinds) + ", was " + number);
              }
              return number;
            });
  }

  SessionRequest toRegistry() {
    return new SessionRequest(userObjectId, tenantObjectId, capacityId, sessionKind);
  }
}
