package dev.sessionkeeper.server.json;

import java.util.function.Supplier;

/** A field of an object. Its value may be read after {@link Fields#check} has passed. */
public final class Field<T> implements Supplier<T> {
  private final Supplier<T> value;

  private Field(Supplier<T> value) {
    this.value = value;
  }

  static <T> Field<T> of(T value) {
    return new Field<>(() -> value);
  }

  static <T> Field<T> bad(FieldError error) {
    return new Field<>(
        () -> {
          throw new IllegalStateException("check() was not called before get(): " + error);
        });
  }

  @Override
  public T get() {
    return value.get();
  }
}
