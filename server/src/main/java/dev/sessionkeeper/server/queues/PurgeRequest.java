package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.spi.RemovableQueues.Part;
import java.util.Map;
import java.util.Optional;

/**
 * Deletes the messages or the dead letters of a queue.
 *
 * @param confirm the name of the queue once more
 * @param part {@code messages} (the default) or {@code deadLetters}
 */
record PurgeRequest(String confirm, Optional<String> part) {
  private static final Map<String, Part> PARTS =
      Map.of("messages", Part.MESSAGES, "deadLetters", Part.DEAD_LETTERS);

  static PurgeRequest read(Fields in) {
    var confirm = in.required("confirm", Decode.text(200));
    var part = in.optional("part", Decode.oneOf(PARTS).map(PurgeRequest::word));
    in.check();
    return new PurgeRequest(confirm.get(), part.get());
  }

  private static String word(Part part) {
    return switch (part) {
      case MESSAGES -> "messages";
      case DEAD_LETTERS -> "deadLetters";
    };
  }

  Part what() {
    return PARTS.getOrDefault(part.orElse("messages"), Part.MESSAGES);
  }

  /**
   * The result of a purge.
   *
   * @param purged the number of deleted messages; an estimate on SQS
   */
  record Answer(String queue, String part, long purged) {
    static Answer of(String queue, Part part, long purged) {
      return new Answer(queue, word(part), purged);
    }
  }
}
