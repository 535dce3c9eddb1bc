package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SendOutcome;
import java.util.List;
import java.util.Optional;

/** The result of each message, in the order of the request. */
record SendAnswer(List<Item> messages) {

  /**
   * The result of one message.
   *
   * @param refused why the provider refused it; only providers without atomic batches do
   */
  record Item(
      String messageId,
      Optional<Long> sequence,
      Optional<Boolean> duplicate,
      Optional<String> refused) {

    static Item of(SendOutcome outcome) {
      var id = outcome.id().value();
      return switch (outcome) {
        case SendOutcome.Stored stored -> taken(id, stored.sequence(), false);
        case SendOutcome.Duplicate again -> taken(id, again.sequence(), true);
        case SendOutcome.Refused refused ->
            new Item(id, Optional.empty(), Optional.empty(), Optional.of(refused.reason()));
      };
    }

    private static Item taken(String id, long sequence, boolean duplicate) {
      return new Item(id, Optional.of(sequence), Optional.of(duplicate), Optional.empty());
    }
  }
}
