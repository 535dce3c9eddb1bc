package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.json.JsonValue;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/** Compares two JSON documents path by path. */
final class JsonDiff {
  /** The most differences that a page shows. */
  static final int MOST = 100;

  private static final int MOST_TEXT = 200;

  private final List<Change> changes = new ArrayList<>();

  private JsonDiff() {}

  /**
   * A difference.
   *
   * @param before the former value; empty if there was none
   * @param after the present value; empty if there is none
   */
  record Change(String path, Optional<String> before, Optional<String> after) {}

  /** The differences, in the order of the newer document; at most {@link #MOST}. */
  static List<Change> between(JsonValue before, JsonValue after) {
    var diff = new JsonDiff();
    diff.compare("", Optional.of(before), Optional.of(after));
    return diff.changes;
  }

  private void compare(String path, Optional<JsonValue> before, Optional<JsonValue> after) {
    if (changes.size() >= MOST) {
      return;
    }
    if (before.orElse(null) instanceof JsonValue.Obj old
        && after.orElse(null) instanceof JsonValue.Obj now) {
      var names = new LinkedHashSet<>(now.members().keySet());
      names.addAll(old.members().keySet());
      for (var name : names) {
        compare(
            path.isEmpty() ? name : path + "." + name,
            Optional.ofNullable(old.members().get(name)),
            Optional.ofNullable(now.members().get(name)));
      }
    } else if (before.orElse(null) instanceof JsonValue.Arr old
        && after.orElse(null) instanceof JsonValue.Arr now) {
      for (int i = 0; i < Math.max(old.items().size(), now.items().size()); i++) {
        compare(path + "[" + i + "]", item(old, i), item(now, i));
      }
    } else if (!text(before).equals(text(after))) {
      changes.add(new Change(path.isEmpty() ? "$" : path, text(before), text(after)));
    }
  }

  private static Optional<JsonValue> item(JsonValue.Arr list, int index) {
    return index < list.items().size() ? Optional.of(list.items().get(index)) : Optional.empty();
  }

  private static Optional<String> text(Optional<JsonValue> value) {
    return value.map(Data::plain).map(text -> Show.line(text, MOST_TEXT));
  }
}
