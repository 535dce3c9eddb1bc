package dev.sessionkeeper.server.json;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the known word that is closest to a misspelled one. */
final class Similar {
  private static final int MOST_COMPARED = 40;

  private Similar() {}

  /** Returns the known word that is at most two changes away, or one change for a short word. */
  static Optional<String> to(String word, Collection<String> known) {
    if (word.length() > MOST_COMPARED) {
      return Optional.empty();
    }
    return known.stream()
        .filter(other -> distance(word, other) <= (other.length() < 4 ? 1 : 2))
        .min(Comparator.comparingInt(other -> distance(word, other)));
  }

  /** Returns how many letters must be added, removed or changed. */
  private static int distance(String a, String b) {
    var row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int changed = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(changed, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
