package dev.sessionkeeper.sqs;

import dev.sessionkeeper.sqs.MessageCodec.Outgoing;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** An entry of a batch that is sent. */
final class SendEntry {
  private SendEntry() {}

  static SendMessageBatchRequestEntry of(int number, Outgoing message, boolean ordered) {
    var entry =
        SendMessageBatchRequestEntry.builder()
            .id(Integer.toString(number))
            .messageBody(message.body())
            .messageAttributes(message.attributes());
    if (ordered) {
      entry.messageGroupId(message.group()).messageDeduplicationId(message.duplicateId());
    }
    return entry.build();
  }
}
