package dev.sessionkeeper.sqs;

import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicReference;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;

/** Makes SQS refuse one message of a batch, as an overloaded SQS may. */
final class RefuseSomeEntries implements ExecutionInterceptor {
  private static final ExecutionAttribute<String> REFUSED = new ExecutionAttribute<>("refused");

  private final AtomicReference<String> next = new AtomicReference<>("");

  /** Refuses the message at this index of the next batch. */
  void nextSend(String place) {
    next.set(place);
  }

  @Override
  public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
    if (!(context.request() instanceof SendMessageBatchRequest request)) {
      return context.request();
    }
    var refused = next.getAndSet("");
    attributes.putAttribute(REFUSED, refused);
    // A batch must not be empty, so its only entry is sent to another queue, where it does no harm.
    return refused.isEmpty()
        ? request
        : request.copy(
            copy ->
                copy.entries(
                    request.entries().stream()
                        .map(
                            entry ->
                                entry.id().equals(refused)
                                    ? entry.copy(e -> e.messageBody("\u0000"))
                                    : entry)
                        .toList()));
  }

  @Override
  public SdkResponse modifyResponse(
      Context.ModifyResponse context, ExecutionAttributes attributes) {
    var refused = attributes.getAttribute(REFUSED);
    if (!(context.response() instanceof SendMessageBatchResponse response)
        || refused == null
        || refused.isEmpty()
        || response.failed().stream().anyMatch(entry -> entry.id().equals(refused))) {
      return context.response();
    }
    var failed = new ArrayList<>(response.failed());
    failed.add(
        BatchResultErrorEntry.builder()
            .id(refused)
            .code("InternalError")
            .senderFault(false)
            .build());
    return response.copy(
        copy ->
            copy.failed(failed)
                .successful(
                    response.successful().stream()
                        .filter(entry -> !entry.id().equals(refused))
                        .toList()));
  }
}
