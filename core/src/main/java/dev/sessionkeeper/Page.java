package dev.sessionkeeper;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Some items of a list and where it goes on.
 *
 * @param next the cursor of the next page; empty on the last one
 */
public record Page<T>(List<T> items, Optional<String> next) {
  public Page {
    items = List.copyOf(items);
  }

  /**
   * The page made of one item more than was asked for: the extra item only tells that the list goes
   * on.
   *
   * @param cursorBehind the cursor behind an item
   */
  public static <T> Page<T> of(
      List<T> fetched, int limit, Function<? super T, String> cursorBehind) {
    if (fetched.size() <= limit) {
      return new Page<>(fetched, Optional.empty());
    }
    var items = fetched.subList(0, limit);
    return new Page<>(items, Optional.of(cursorBehind.apply(items.get(limit - 1))));
  }

  /**
   * Which page is asked for.
   *
   * @param cursor where to go on; the beginning where it is empty
   */
  public record Request(int limit, Optional<String> cursor) {
    /** The most items of one page. */
    public static final int MAX_LIMIT = 1000;

    public Request {
      if (limit < 1 || limit > MAX_LIMIT) {
        throw new IllegalArgumentException("limit must be 1 to " + MAX_LIMIT + ", was " + limit);
      }
    }

    public static Request first(int limit) {
      return new Request(limit, Optional.empty());
    }
  }
}
