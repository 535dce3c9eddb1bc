package dev.sessionkeeper.spring;

import dev.sessionkeeper.Codec;
import dev.sessionkeeper.jackson.JacksonCodec;
import java.lang.reflect.Type;
import tools.jackson.databind.json.JsonMapper;

/** Finds the codec of a payload type. */
@FunctionalInterface
public interface Codecs {

  /** Returns a codec that reads and writes values of this type. */
  Codec<?> of(Type type);

  /** Returns codecs for {@code String}, {@code byte[]}, and JSON for all other types. */
  static Codecs json(JsonMapper mapper) {
    return type -> {
      if (type.equals(String.class)) {
        return Codec.text();
      }
      if (type.equals(byte[].class)) {
        return Codec.bytes();
      }
      return JacksonCodec.ofType(mapper, type);
    };
  }
}
