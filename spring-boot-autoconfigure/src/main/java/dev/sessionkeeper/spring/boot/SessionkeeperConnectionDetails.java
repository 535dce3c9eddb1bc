package dev.sessionkeeper.spring.boot;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the Sessionkeeper server is. A bean of this type replaces {@code sessionkeeper.server.*},
 * for example in a test that starts a server.
 */
public interface SessionkeeperConnectionDetails extends ConnectionDetails {

  /** Addresses of servers that share one store. */
  List<URI> urls();

  /** The credential; null where the server asks for none. */
  @Nullable String apiKey();
}
