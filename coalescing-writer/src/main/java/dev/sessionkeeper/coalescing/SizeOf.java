package dev.sessionkeeper.coalescing;

/** Estimates the memory that an entry holds. */
final class SizeOf {
  /** The bytes of a pending value, its stage and its map entry. */
  private static final long SLOT = 256;

  private static final long OTHER = 64;

  private SizeOf() {}

  static long entry(LastValueStore.Entry<?, ?> entry) {
    return SLOT + value(entry.key()) + value(entry.value());
  }

  private static long value(Object value) {
    return switch (value) {
      case CharSequence text -> OTHER + 2L * text.length();
      case byte[] bytes -> OTHER + bytes.length;
      default -> OTHER;
    };
  }
}
