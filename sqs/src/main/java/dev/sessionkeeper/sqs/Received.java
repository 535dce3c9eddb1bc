package dev.sessionkeeper.sqs;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * A message as SQS delivered it once.
 *
 * @param receipt the receipt handle, which expires with the visibility timeout
 * @param sequence its sequence number; in a queue without order, its time
 * @param receives how often SQS has delivered it, including this time
 * @param deadSource the ARN of the queue from which SQS moved it to the dead letters, if SQS did
 */
record Received(
    String messageId,
    String receipt,
    Message message,
    String group,
    long sequence,
    int receives,
    Instant sentAt,
    Map<String, String> meta,
    Map<String, String> dead,
    NativeAttributes natives,
    Optional<String> deadSource) {

  static Received of(software.amazon.awssdk.services.sqs.model.Message raw) {
    var attributes = raw.attributes();
    var group = attributes.get(MessageSystemAttributeName.MESSAGE_GROUP_ID);
    var sent = Long.parseLong(attributes.get(MessageSystemAttributeName.SENT_TIMESTAMP));
    var number = attributes.get(MessageSystemAttributeName.SEQUENCE_NUMBER);
    return new Received(
        raw.messageId(),
        raw.receiptHandle(),
        MessageCodec.decode(raw, Optional.ofNullable(group)),
        group == null ? "" : group,
        number == null ? sent : Sequences.of(number),
        Integer.parseInt(attributes.get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT)),
        Instant.ofEpochMilli(sent),
        MessageCodec.map(raw, MessageCodec.META),
        MessageCodec.map(raw, MessageCodec.DEAD),
        NativeAttributes.of(raw, MessageCodec.map(raw, MessageCodec.META)),
        Optional.ofNullable(
            attributes.get(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN)));
  }

  SessionId session() {
    return message.session().orElseThrow();
  }

  int replays() {
    return Integer.parseInt(meta.getOrDefault("replays", "0"));
  }

  /** Returns the sequence number of the first send, because a replay gets a new one. */
  long originalSequence() {
    return meta.containsKey("sequence") ? Long.parseLong(meta.get("sequence")) : sequence;
  }
}
