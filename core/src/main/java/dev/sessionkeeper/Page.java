package dev.sessionkeeper;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * A part of a list, and the cursor of the next part.
 *
 * @param next the cursor of the next page; empty on the last one
 */
public record Page<T>(List<T> items, Optional<String> next) {
  public Page {
    items = List.copyOf(items);
  }

  /**
   * Makes a page from one item more than the limit; the extra item only shows that another page
   * follows.
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
   * Makes a page as {@link #of(List, int, Function)} does, and ends it before the first item whose
   * payload does not fit.
   *
   * @param fetched items in their order; items behind the first one that does not fit may be
   *     missing
   */
  public static <T> Page<T> of(
      List<T> fetched,
      Request request,
      ToLongFunction<? super T> bytes,
      Function<? super T, String> cursorBehind) {
    int fit = 0;
    long total = 0;
    while (fit < Math.min(fetched.size(), request.limit())) {
      long size = bytes.applyAsLong(fetched.get(fit));
      if (fit > 0 && size > request.maxBytes() - total) {
        break;
      }
      total += size;
      fit++;
    }
    return of(fetched, Math.max(1, fit), cursorBehind);
  }

  /**
   * Selects a page.
   *
   * @param cursor where the page begins; the beginning of the list if empty
   * @param maxBytes the most bytes of payloads and properties on one page of messages; the first
   *     item is always included, whatever its size
   */
  public record Request(int limit, Optional<String> cursor, long maxBytes) {
    /** The most items of one page. */
    public static final int MAX_LIMIT = 1000;

    public Request {
      if (limit < 1 || limit > MAX_LIMIT) {
        throw new IllegalArgumentException("limit must be 1 to " + MAX_LIMIT + ", was " + limit);
      }
      if (maxBytes < 1) {
        throw new IllegalArgumentException("maxBytes must be at least 1, was " + maxBytes);
      }
    }

    /** Selects a page whose items may have any size. */
    public Request(int limit, Optional<String> cursor) {
      this(limit, cursor, Long.MAX_VALUE);
    }

    /** Returns the same selection with at most so many bytes of payloads and properties. */
    public Request withMaxBytes(long bytes) {
      return new Request(limit, cursor, bytes);
    }

    public static Request first(int limit) {
      return new Request(limit, Optional.empty());
    }
  }
}
