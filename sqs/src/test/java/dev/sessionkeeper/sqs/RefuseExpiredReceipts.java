package dev.sessionkeeper.sqs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * Refuses deletes and extensions after the visibility timeout, as AWS does: the emulator accepts
 * them, and would hide a worker that is too slow.
 */
final class RefuseExpiredReceipts implements ExecutionInterceptor {
  private static final String REFUSED = "an expired receipt";

  private final Map<String, Long> ends = new ConcurrentHashMap<>();

  @Override
  public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
    return switch (context.request()) {
      case DeleteMessageBatchRequest delete ->
          delete.copy(
              request ->
                  request.entries(
                      delete.entries().stream()
                          .map(
                              entry ->
                                  entry.copy(e -> e.receiptHandle(valid(entry.receiptHandle()))))
                          .toList()));
      case ChangeMessageVisibilityBatchRequest change ->
          change.copy(
              request ->
                  request.entries(
                      change.entries().stream()
                          .map(
                              entry ->
                                  entry.copy(e -> e.receiptHandle(valid(entry.receiptHandle()))))
                          .toList()));
      default -> context.request();
    };
  }

  private String valid(String receipt) {
    var end = ends.get(receipt);
    return end == null || end - System.nanoTime() <= 0 ? REFUSED : receipt;
  }

  @Override
  public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
    if (context.response() instanceof ReceiveMessageResponse response
        && context.request() instanceof ReceiveMessageRequest request) {
      response
          .messages()
          .forEach(message -> extend(message.receiptHandle(), request.visibilityTimeout()));
    }
    if (context.response() instanceof ChangeMessageVisibilityBatchResponse response
        && context.request() instanceof ChangeMessageVisibilityBatchRequest request) {
      for (var done : response.successful()) {
        request.entries().stream()
            .filter(entry -> entry.id().equals(done.id()))
            .forEach(entry -> extend(entry.receiptHandle(), entry.visibilityTimeout()));
      }
    }
  }

  /** Expires all receipts now; SQS itself keeps the messages hidden until their time is over. */
  int expireAll() {
    int count = 0;
    for (var receipt : ends.entrySet()) {
      if (receipt.getValue() - System.nanoTime() > 0) {
        receipt.setValue(System.nanoTime());
        count++;
      }
    }
    return count;
  }

  private void extend(String receipt, int seconds) {
    ends.put(receipt, System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
  }
}
