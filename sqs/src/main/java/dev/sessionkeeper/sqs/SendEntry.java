package dev.sessionkeeper.sqs;

import dev.sessionkeeper.sqs.MessageCodec.Outgoing;
import java.util.Map;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeNameForSends;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeValue;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** An entry of a batch to send. */
final class SendEntry {
  private SendEntry() {}

  static SendMessageBatchRequestEntry of(int number, Outgoing message, boolean ordered) {
    var entry =
        SendMessageBatchRequestEntry.builder()
            .id(Integer.toString(number))
            .messageBody(message.body())
            .messageAttributes(message.attributes());
    message.trace().ifPresent(trace -> entry.messageSystemAttributes(traced(trace)));
    if (ordered) {
      entry.messageGroupId(message.group()).messageDeduplicationId(message.duplicateId());
    }
    return entry.build();
  }

  private static Map<MessageSystemAttributeNameForSends, MessageSystemAttributeValue> traced(
      String trace) {
    return Map.of(
        MessageSystemAttributeNameForSends.AWS_TRACE_HEADER,
        MessageSystemAttributeValue.builder().dataType("String").stringValue(trace).build());
  }
}
