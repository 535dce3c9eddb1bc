package dev.sessionkeeper.servicebus.testserver;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.apache.qpid.proton.amqp.Binary;
import org.jspecify.annotations.Nullable;

/** The management operations of a session's owner. Event loop only. */
final class SessionOperations {
  private final BrokerQueue queue;
  private final ManagementRequest request;
  private final InstantSource clock;

  SessionOperations(BrokerQueue queue, ManagementRequest request, InstantSource clock) {
    this.queue = queue;
    this.request = request;
    this.clock = clock;
  }

  Map<String, Object> renew() throws ManagementRefusal {
    var session = held();
    session.lockedUntil = clock.millis() + queue.options().lockDuration().toMillis();
    return Map.of("expiration", Wire.timestamp(session.lockedUntil));
  }

  Map<String, Object> getState() throws ManagementRefusal {
    var answer = new HashMap<String, @Nullable Object>();
    answer.put("session-state", held().state);
    return nullable(answer);
  }

  Map<String, Object> setState() throws ManagementRefusal {
    held().state = (Binary) request.optional("session-state");
    return Map.of();
  }

  /**
   * Returns a map that may contain null, which the codec needs to encode that there is no state.
   */
  @SuppressWarnings("NullAway")
  private static Map<String, Object> nullable(Map<String, @Nullable Object> map) {
    return map;
  }

  private BrokerSession held() throws ManagementRefusal {
    var session = queue.session(request.session());
    var holder = session.holder;
    if (holder == null || request.link().filter(name -> !name.equals(holder.name())).isPresent()) {
      throw ManagementRefusal.gone(Wire.SESSION_LOCK_LOST);
    }
    return session;
  }
}
