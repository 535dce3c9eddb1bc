package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.sqs.MessageCodec.Outgoing;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.SdkPlugin;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SqsResponse;

/** The calls on one SQS queue, in batches of at most ten, with our errors. */
final class SqsCalls {
  static final int BATCH = 10;

  /** The error codes of SQS for an invalid or expired receipt. */
  private static final Set<String> RECEIPT_REFUSED =
      Set.of(
          "ReceiptHandleIsInvalid",
          "InvalidParameterValue",
          "MessageNotInflight",
          "AWS.SimpleQueueService.MessageNotInflight");

  /** Failures to connect: no request was sent. */
  private static final Set<Class<? extends Throwable>> NOT_CONNECTED =
      Set.of(ConnectException.class, UnknownHostException.class, NoRouteToHostException.class);

  private static final Set<String> ACCESS_REFUSED = Set.of("AccessDenied", "AccessDeniedException");

  private static final SdkPlugin ONE_ATTEMPT =
      client ->
          client.overrideConfiguration(
              client.overrideConfiguration().toBuilder()
                  .retryStrategy(AwsRetryStrategy.doNotRetry())
                  .build());

  private final SqsClient client;
  private final StoreClock clock;
  private final QueueName queue;
  private final Supplier<String> url;
  private final QueueMode mode;

  SqsCalls(
      SqsClient client, StoreClock clock, QueueName queue, QueueMode mode, Supplier<String> url) {
    this.client = client;
    this.clock = clock;
    this.queue = queue;
    this.mode = mode;
    this.url = url;
  }

  boolean isOrdered() {
    return mode == QueueMode.ORDERED;
  }

  List<Received> receive(int max, int waitSeconds, int visibilitySeconds) {
    var response =
        call(
            () ->
                client.receiveMessage(
                    request ->
                        request
                            .queueUrl(url.get())
                            .maxNumberOfMessages(Math.min(max, BATCH))
                            .waitTimeSeconds(waitSeconds)
                            .visibilityTimeout(visibilitySeconds)
                            .messageAttributeNames("All")
                            .messageSystemAttributeNames(MessageSystemAttributeName.ALL)));
    return response.messages().stream().map(Received::of).toList();
  }

  /**
   * Sends at most ten messages.
   *
   * @return by their index in the list: a sequence number, or the reason of a refusal
   * @throws KeeperException.OutcomeUnknown if the answer was lost
   */
  Map<Integer, Sent> send(List<Outgoing> messages) {
    var response =
        change(
            "A send to SQS queue " + queue,
            () ->
                client.sendMessageBatch(
                    request -> {
                      request.queueUrl(url.get());
                      request.entries(
                          Numbered.map(
                              messages,
                              (number, message) -> SendEntry.of(number, message, isOrdered())));
                    }));
    var results = new HashMap<Integer, Sent>();
    response
        .successful()
        .forEach(
            entry ->
                results.put(
                    Integer.parseInt(entry.id()),
                    new Sent(
                        entry.sequenceNumber() == null ? 0 : Sequences.of(entry.sequenceNumber()),
                        "")));
    response
        .failed()
        .forEach(entry -> results.put(Integer.parseInt(entry.id()), new Sent(0, say(entry))));
    return results;
  }

  /**
   * Deletes by receipt. Returns the indexes in the list that failed, with the reason. The SDK must
   * not retry this call, because a refusal would not tell whether an earlier attempt had deleted
   * the message.
   *
   * @throws KeeperException.OutcomeUnknown if the answer was lost
   */
  Map<Integer, Failure> delete(List<String> receipts) {
    return change(
            "A deletion from SQS queue " + queue,
            () ->
                client.deleteMessageBatch(
                    request -> {
                      request.overrideConfiguration(override -> override.addPlugin(ONE_ATTEMPT));
                      request.queueUrl(url.get());
                      request.entries(
                          Numbered.map(
                              receipts,
                              (number, receipt) ->
                                  software.amazon.awssdk.services.sqs.model
                                      .DeleteMessageBatchRequestEntry.builder()
                                      .id(Integer.toString(number))
                                      .receiptHandle(receipt)
                                      .build()));
                    }))
        .failed()
        .stream()
        .collect(HashMap::new, SqsCalls::note, Map::putAll);
  }

  /**
   * Sets how long messages stay hidden. Returns the failed messages by their index in the list,
   * with the reason.
   */
  Map<Integer, Failure> hide(List<Hidden> messages) {
    return call(
            () ->
                client.changeMessageVisibilityBatch(
                    request -> {
                      request.queueUrl(url.get());
                      request.entries(
                          Numbered.map(
                              messages,
                              (number, hidden) ->
                                  software.amazon.awssdk.services.sqs.model
                                      .ChangeMessageVisibilityBatchRequestEntry.builder()
                                      .id(Integer.toString(number))
                                      .receiptHandle(hidden.receipt())
                                      .visibilityTimeout(hidden.seconds())
                                      .build()));
                    }))
        .failed()
        .stream()
        .collect(HashMap::new, SqsCalls::note, Map::putAll);
  }

  /** Hides any number of messages as {@link #hide} does, and ignores failures. */
  void hideAll(List<Hidden> messages) {
    for (int from = 0; from < messages.size(); from += BATCH) {
      hide(messages.subList(from, Math.min(messages.size(), from + BATCH)));
    }
  }

  private static void note(Map<Integer, Failure> failures, BatchResultErrorEntry entry) {
    failures.put(
        Integer.parseInt(entry.id()),
        new Failure(RECEIPT_REFUSED.contains(entry.code()), say(entry)));
  }

  private static String say(BatchResultErrorEntry entry) {
    return entry.code() + (entry.message() == null ? "" : ": " + entry.message());
  }

  private <T extends SqsResponse> T change(String what, Supplier<T> request) {
    try {
      return ask(request);
    } catch (SdkException e) {
      var known = translate(queue, e);
      throw known instanceof KeeperException.Unavailable && mayHaveArrived(e)
          ? new KeeperException.OutcomeUnknown(what, e)
          : known;
    }
  }

  /** Returns whether SQS may have received the request of a failed call, in any attempt. */
  static boolean mayHaveArrived(SdkException failure) {
    if (failure instanceof AwsServiceException service) {
      return service.statusCode() >= 500;
    }
    if (failure instanceof ApiCallTimeoutException
        || failure instanceof ApiCallAttemptTimeoutException) {
      return true;
    }
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof IOException) {
        return !NOT_CONNECTED.contains(cause.getClass()) || hadOtherFailures(failure, cause);
      }
    }
    return hadOtherFailures(failure, failure);
  }

  /**
   * Returns whether an earlier attempt failed differently; the SDK keeps only the messages of
   * attempts before the last one.
   */
  private static boolean hadOtherFailures(SdkException failure, Throwable last) {
    var words = String.valueOf(last.getMessage());
    return Arrays.stream(failure.getSuppressed())
        .anyMatch(earlier -> !String.valueOf(earlier.getMessage()).contains(words));
  }

  private <T extends SqsResponse> T call(Supplier<T> request) {
    try {
      return ask(request);
    } catch (SdkException e) {
      throw translate(queue, e);
    }
  }

  private <T extends SqsResponse> T ask(Supplier<T> request) {
    var response = request.get();
    clock.answered(response.sdkHttpResponse().firstMatchingHeader("Date"));
    return response;
  }

  /** Returns whether a right is missing. SQS answers 403, or 400 with a code of its own. */
  static boolean isAccessRefused(SdkException e) {
    return e instanceof AwsServiceException service
        && (service.statusCode() == 401
            || service.statusCode() == 403
            || (service.awsErrorDetails() != null
                && ACCESS_REFUSED.contains(String.valueOf(service.awsErrorDetails().errorCode()))));
  }

  static KeeperException translate(QueueName queue, SdkException e) {
    if (e instanceof QueueDoesNotExistException) {
      return new KeeperException.UnknownQueue(queue);
    }
    if (e instanceof AwsServiceException service) {
      if (isAccessRefused(e)) {
        return new KeeperException.Misconfigured(
            "SQS refused the access to queue " + queue + ": " + service.getMessage(), e);
      }
      if (service.statusCode() == 400 && !service.isThrottlingException()) {
        return new KeeperException.Rejected(
            "SQS refused a call on queue " + queue + ": " + service.getMessage(), e);
      }
    }
    return new KeeperException.Unavailable("SQS queue " + queue, e);
  }

  /** The result of one message: a sequence number, or the reason of its refusal. */
  record Sent(long sequence, String refusal) {
    boolean isRefused() {
      return !refusal.isEmpty();
    }
  }

  /** The reason why one entry of a batch failed. */
  record Failure(boolean isReceiptRefused, String reason) {}

  /** A message, and how long to hide it. */
  record Hidden(String receipt, int seconds) {}

  /** Entries of a batch, numbered by their index. */
  private interface Numbered<T, E> {
    E entry(int number, T item);

    static <T, E> List<E> map(List<T> items, Numbered<T, E> numbered) {
      var entries = new ArrayList<E>();
      for (int i = 0; i < items.size(); i++) {
        entries.add(numbered.entry(i, items.get(i)));
      }
      return entries;
    }
  }
}
