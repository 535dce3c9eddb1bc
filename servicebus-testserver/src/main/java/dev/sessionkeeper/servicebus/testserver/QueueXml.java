package dev.sessionkeeper.servicebus.testserver;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Queue descriptions of the administration API: stored as the client wrote them, parsed as needed.
 */
final class QueueXml {
  private static final Pattern DESCRIPTION =
      Pattern.compile("<QueueDescription.*</QueueDescription>", Pattern.DOTALL);
  private static final String NAMESPACE =
      "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect";

  private static final String COUNTS =
      "http://schemas.microsoft.com/netservices/2011/06/servicebus";

  private QueueXml() {}

  static String descriptionIn(String body) {
    var matcher = DESCRIPTION.matcher(body);
    if (!matcher.find()) {
      throw new IllegalArgumentException("No QueueDescription in " + body);
    }
    return matcher.group();
  }

  static QueueOptions options(String description) {
    boolean duplicates = flag(description, "RequiresDuplicateDetection", false);
    return new QueueOptions(
        flag(description, "RequiresSession", false),
        duration(description, "LockDuration", Duration.ofMinutes(1)),
        Integer.parseInt(value(description, "MaxDeliveryCount").orElse("10")),
        duplicates
            ? Optional.of(
                duration(
                    description, "DuplicateDetectionHistoryTimeWindow", Duration.ofMinutes(10)))
            : Optional.empty(),
        duration(description, "DefaultMessageTimeToLive", Duration.ofDays(14)),
        flag(description, "DeadLetteringOnMessageExpiration", false));
  }

  static String description(QueueOptions options) {
    return "<QueueDescription xmlns=\""
        + NAMESPACE
        + "\"><LockDuration>"
        + options.lockDuration()
        + "</LockDuration><RequiresDuplicateDetection>"
        + options.duplicateWindow().isPresent()
        + "</RequiresDuplicateDetection><RequiresSession>"
        + options.requiresSession()
        + "</RequiresSession><DefaultMessageTimeToLive>"
        + options.timeToLive()
        + "</DefaultMessageTimeToLive><DeadLetteringOnMessageExpiration>"
        + options.deadLetterExpired()
        + "</DeadLetteringOnMessageExpiration><MaxDeliveryCount>"
        + options.maxDeliveryCount()
        + "</MaxDeliveryCount></QueueDescription>";
  }

  /** Returns the description with its counts, as Azure adds them to an answer. */
  static String counted(String description, long active, long dead) {
    var counts =
        "<CountDetails xmlns:d2p1=\""
            + COUNTS
            + "\"><d2p1:ActiveMessageCount>"
            + active
            + "</d2p1:ActiveMessageCount><d2p1:DeadLetterMessageCount>"
            + dead
            + "</d2p1:DeadLetterMessageCount><d2p1:ScheduledMessageCount>0</d2p1:ScheduledMessageCount>"
            + "<d2p1:TransferMessageCount>0</d2p1:TransferMessageCount>"
            + "<d2p1:TransferDeadLetterMessageCount>0</d2p1:TransferDeadLetterMessageCount></CountDetails>"
            + "<MessageCount>"
            + (active + dead)
            + "</MessageCount><SizeInBytes>0</SizeInBytes>"
            + "<CreatedAt>2024-01-01T00:00:00Z</CreatedAt><UpdatedAt>2024-01-01T00:00:00Z</UpdatedAt>"
            + "<AccessedAt>2024-01-01T00:00:00Z</AccessedAt>";
    return description.replace("</QueueDescription>", counts + "</QueueDescription>");
  }

  static String entry(String queue, String description) {
    return "<entry xmlns=\"http://www.w3.org/2005/Atom\"><id>"
        + queue
        + "</id><title type=\"text\">"
        + queue
        + "</title><content type=\"application/xml\">"
        + description
        + "</content></entry>";
  }

  static String feed(Map<String, String> queues) {
    var feed =
        new StringBuilder(
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">Queues</title>");
    queues.forEach((queue, description) -> feed.append(entry(queue, description)));
    return feed.append("</feed>").toString();
  }

  static String error(int code, String detail) {
    return "<Error><Code>" + code + "</Code><Detail>" + detail + "</Detail></Error>";
  }

  private static boolean flag(String description, String name, boolean otherwise) {
    return value(description, name).map(Boolean::parseBoolean).orElse(otherwise);
  }

  private static Duration duration(String description, String name, Duration otherwise) {
    return value(description, name).map(Duration::parse).orElse(otherwise);
  }

  private static Optional<String> value(String description, String name) {
    var matcher = Pattern.compile("<" + name + ">([^<]*)</" + name + ">").matcher(description);
    return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
  }
}
