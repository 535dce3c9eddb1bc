package dev.sessionkeeper.spring.boot;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The addresses of the Sessionkeeper server. A bean of this type replaces {@code
 * sessionkeeper.server.*}, for example in a test that starts a server.
 */
public interface SessionkeeperConnectionDetails extends ConnectionDetails {

  /** Returns the addresses of servers that share one store. */
  List<URI> urls();

  /** Returns the API key; null if the server requires none. */
  @Nullable String apiKey();
}
