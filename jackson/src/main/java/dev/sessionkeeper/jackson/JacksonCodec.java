package dev.sessionkeeper.jackson;

import dev.sessionkeeper.Codec;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Payload;
import java.lang.reflect.Type;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads and writes values of one type as JSON. Safe for use by many threads.
 *
 * <p>It reads bodies of every form, so that JSON which another producer sent as text or bytes is
 * read as well. A body that is JSON {@code null} is refused.
 */
public final class JacksonCodec<T> implements Codec<T> {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final JavaType type;
  private final ObjectReader reader;
  private final ObjectWriter writer;

  private JacksonCodec(JsonMapper mapper, JavaType type) {
    this.type = type;
    this.reader = mapper.readerFor(type);
    this.writer = mapper.writerFor(type);
  }

  /** A codec of this type with Jackson's own defaults. */
  public static <T> JacksonCodec<T> of(Class<T> type) {
    return of(MAPPER, type);
  }

  /** A codec of this type with a mapper of the application. */
  public static <T> JacksonCodec<T> of(JsonMapper mapper, Class<T> type) {
    return new JacksonCodec<>(mapper, mapper.constructType(type));
  }

  /** A codec of a type that is known at run time, generic ones included. */
  public static JacksonCodec<Object> ofType(JsonMapper mapper, Type type) {
    return new JacksonCodec<>(mapper, mapper.constructType(type));
  }

  @Override
  public Payload encode(T value) {
    try {
      return Payload.stored(writer.writeValueAsBytes(value), Payload.Form.JSON, "application/json");
    } catch (JacksonException e) {
      throw new KeeperException.Rejected(
          "A value of " + name() + " cannot be written as JSON: " + e.getOriginalMessage(), e);
    }
  }

  @Override
  public T decode(Payload payload) {
    T value;
    try {
      value = reader.readValue(payload.unsafeBytes());
    } catch (JacksonException e) {
      throw new KeeperException.Rejected(
          "A body of " + payload + " cannot be read as " + name() + ": " + e.getOriginalMessage(),
          e);
    }
    return require(value, payload);
  }

  @SuppressWarnings("ConstantValue") // Jackson has no nullness annotations and may return null.
  private T require(T value, Payload payload) {
    if (value == null) {
      throw new KeeperException.Rejected("A body of " + payload + " is null, and no " + name());
    }
    return value;
  }

  private String name() {
    return type.toCanonical();
  }
}
