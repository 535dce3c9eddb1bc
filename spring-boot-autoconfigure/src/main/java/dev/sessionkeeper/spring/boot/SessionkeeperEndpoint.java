package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spring.RunningListener;
import dev.sessionkeeper.spring.SessionListeners;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/** Shows listeners and queues to operators, and pauses, resumes and resizes listeners. */
@Endpoint(id = "sessionkeeper")
public final class SessionkeeperEndpoint {
  private final QueueProvider provider;
  private final SessionListeners listeners;

  SessionkeeperEndpoint(QueueProvider provider, SessionListeners listeners) {
    this.provider = provider;
    this.listeners = listeners;
  }

  /** The provider with all listeners and queues. */
  public record Overview(String provider, List<Listener> listeners, Map<String, Queue> queues) {}

  /** One listener. */
  public record Listener(
      String id, String queue, String state, int activeSessions, int concurrency) {
    static Listener of(RunningListener listener) {
      return new Listener(
          listener.id(),
          listener.queue().value(),
          listener.isStoppedByPoison() ? "STOPPED_BY_POISON_POLICY" : listener.state().name(),
          listener.activeSessions(),
          listener.concurrency());
    }
  }

  /** The numbers of one queue. */
  public record Queue(
      long depth,
      long readySessions,
      long heldSessions,
      long waitingSessions,
      long parkedSessions,
      long deadLetters,
      String oldestAge) {
    static Queue of(QueueStats stats) {
      return new Queue(
          stats.depth(),
          stats.readySessions(),
          stats.heldSessions(),
          stats.waitingSessions(),
          stats.parkedSessions(),
          stats.deadLetters(),
          stats.oldestAge().toString());
    }
  }

  /** Returns the listeners, and the numbers of their queues if the provider counts them. */
  @ReadOperation
  public Overview overview() {
    var queues = new LinkedHashMap<String, Queue>();
    if (provider instanceof InspectableQueues inspectable) {
      for (var listener : listeners.all()) {
        queues.computeIfAbsent(
            listener.queue().value(), name -> Queue.of(inspectable.stats(listener.queue())));
      }
    }
    return new Overview(
        provider.capabilities().provider(),
        listeners.all().stream().map(Listener::of).toList(),
        queues);
  }

  /** Returns one listener; null, and so 404, if there is none. */
  @ReadOperation
  public @Nullable Listener listener(@Selector String id) {
    return listeners.find(id).map(Listener::of).orElse(null);
  }

  /**
   * Changes one listener; 404 if there is none, 400 if the change is invalid.
   *
   * @param action pause or resume; none to change the concurrency only
   */
  @WriteOperation
  public WebEndpointResponse<Listener> change(
      @Selector String id, @Nullable String action, @Nullable Integer concurrency) {
    var listener = listeners.find(id);
    if (listener.isEmpty()) {
      return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
    }
    try {
      change(listener.get(), action, concurrency);
    } catch (IllegalArgumentException | IllegalStateException e) {
      // Otherwise the caller would see an internal server error.
      var why = String.valueOf(e.getMessage());
      throw new InvalidEndpointRequestException(why, why, e);
    }
    return new WebEndpointResponse<>(Listener.of(listener.get()));
  }

  private static void change(
      RunningListener listener, @Nullable String action, @Nullable Integer concurrency) {
    if (concurrency != null) {
      listener.changeConcurrency(concurrency);
    }
    if (action != null) {
      switch (action) {
        case "pause" -> listener.pause();
        case "resume" -> listener.resume();
        default ->
            throw new IllegalArgumentException("action must be pause or resume, was " + action);
      }
    }
  }
}
