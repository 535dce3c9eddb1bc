package dev.sessionkeeper.sqs;

import dev.sessionkeeper.SessionId;
import java.util.ArrayDeque;
import java.util.List;

/**
 * Messages of one group that came with one receive, in order.
 *
 * @param arrivedAt monotonic; their visibility timeout counts from then
 */
record Batch(String group, ArrayDeque<Item> items, long arrivedAt) {
  SessionId session() {
    return head().received().session();
  }

  Item head() {
    return items.getFirst();
  }

  List<String> receipts() {
    return items.stream().map(item -> item.received().receipt()).toList();
  }
}
