package dev.sessionkeeper.sqs;

import dev.sessionkeeper.Delivery;

/**
 * A message that this process has received.
 *
 * @param failures how often it has failed before this attempt
 */
record Item(Received received, AttemptBook.Known known, int failures, String lastError) {

  static Item of(Received received, AttemptBook.Known known) {
    return new Item(received, known, known.failures(), known.lastError());
  }

  Item failed(int times, String error) {
    return new Item(received, known, failures + times, error);
  }

  long sequence() {
    return received.sequence();
  }

  /**
   * Returns the attempt number. Receives of other processes count, but leave at least one attempt
   * to this process.
   */
  int attempt(int maxDeliveryCount) {
    int certain = failures + 1;
    return certain >= maxDeliveryCount
        ? certain
        : Math.min(certain + known.elsewhere(), maxDeliveryCount);
  }

  Delivery delivery(int maxDeliveryCount) {
    return new Delivery(
        received.message(), sequence(), attempt(maxDeliveryCount), received.sentAt());
  }
}
