package dev.sessionkeeper.server.json;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A value that is computed when first needed, and then kept. For one thread. */
final class Later<T> {
  private final Supplier<T> supplier;
  private @Nullable T value;

  Later(Supplier<T> supplier) {
    this.supplier = supplier;
  }

  T get() {
    var known = value;
    if (known == null) {
      known = supplier.get();
      value = known;
    }
    return known;
  }
}
