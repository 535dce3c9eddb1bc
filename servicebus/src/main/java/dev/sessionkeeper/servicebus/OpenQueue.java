package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A queue in use, with its cached settings and its clients, opened when first needed. */
final class OpenQueue {
  private static final Logger log = LoggerFactory.getLogger(OpenQueue.class);
  private static final Duration SETTINGS_KEPT = Duration.ofSeconds(30);

  private final QueueName name;
  private final ServiceBusClients clients;
  private final Function<QueueName, Optional<QueueSettings>> describe;
  private final Timing timing;
  private final QueueContext context;
  private final List<Runnable> closing = new ArrayList<>();
  private volatile @Nullable Known known;
  private @Nullable ServiceBusSenderClient sender;
  private @Nullable SendMessages sending;
  private @Nullable ServiceBusSessions sessions;
  private @Nullable ServiceBusMessages messages;
  private @Nullable ServiceBusDeadLetters deadLetters;

  OpenQueue(
      QueueName name,
      ServiceBusClients clients,
      Function<QueueName, Optional<QueueSettings>> describe,
      Timing timing,
      BrokerClock clock) {
    this.name = name;
    this.clients = clients;
    this.describe = describe;
    this.timing = timing;
    this.context = new QueueContext(name, this::settings, clock, timing.time());
  }

  QueueSettings settings() {
    var last = known;
    if (last != null && timing.time().since(last.since()).compareTo(SETTINGS_KEPT) < 0) {
      return last.settings();
    }
    var settings = last == null ? read() : readOr(last.settings());
    known = new Known(settings, timing.time().nanoTime());
    return settings;
  }

  /**
   * Reads the settings. While the administration API is away, the previous ones are used for
   * another while.
   */
  private QueueSettings readOr(QueueSettings last) {
    try {
      return read();
    } catch (KeeperException.Unavailable e) {
      log.debug("The settings of {} could not be read again; the last ones are kept", name, e);
      return last;
    }
  }

  private QueueSettings read() {
    return describe.apply(name).orElseThrow(() -> new KeeperException.UnknownQueue(name));
  }

  void forgetSettings() {
    known = null;
  }

  synchronized SendMessages sending() {
    if (sending == null) {
      var recent = new RecentIds(timing.time(), () -> settings().duplicateWindow());
      sending = new SendMessages(name, sender(), recent);
    }
    return sending;
  }

  private ServiceBusSenderClient sender() {
    if (sender == null) {
      sender = clients.sender(name);
      closing.add(sender::close);
    }
    return sender;
  }

  synchronized ServiceBusSessions sessions() {
    if (sessions == null) {
      sessions = new ServiceBusSessions(context, clients.sessions(name), timing);
      closing.add(sessions::close);
    }
    return sessions;
  }

  synchronized ServiceBusMessages messages() {
    if (messages == null) {
      messages = new ServiceBusMessages(context, timing, () -> clients.messages(name));
      closing.add(messages::close);
    }
    return messages;
  }

  synchronized ServiceBusDeadLetters deadLetters() {
    if (deadLetters == null) {
      ServiceBusReceiverClient receiver = clients.deadLetters(name);
      closing.add(receiver::close);
      deadLetters = new ServiceBusDeadLetters(context, receiver, sender());
    }
    return deadLetters;
  }

  synchronized void close() {
    closing.reversed().forEach(Runnable::run);
    closing.clear();
  }

  private record Known(QueueSettings settings, long since) {}
}
