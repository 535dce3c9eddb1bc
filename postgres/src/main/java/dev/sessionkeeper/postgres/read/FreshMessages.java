package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.postgres.row.FoundMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** New messages of one session, and when the first of them expires. */
public final class FreshMessages {
  final List<FoundMessage> found = new ArrayList<>();
  Instant expires = Instant.MAX;

  void add(FoundMessage next) {
    found.add(next);
    expires = next.expires().isBefore(expires) ? next.expires() : expires;
  }

  void putInOrder() {
    found.sort(Comparator.comparingLong(FoundMessage::sequence));
  }
}
