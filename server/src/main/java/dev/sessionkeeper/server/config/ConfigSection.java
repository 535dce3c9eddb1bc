package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.JsonValue;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One top-level key of the configuration and who reads it. A feature declares its own section as a
 * constant, {@link KeeperConfig#SECTIONS} names all of them, and {@link KeeperConfig#get} gives the
 * value back.
 *
 * {@snippet :
 * record JobsConfig(Duration lease, Duration poll) {
 *   static final ConfigSection<JobsConfig> SECTION = ConfigSection.of("jobs", JobsConfig::read);
 *
 *   static JobsConfig read(Fields in, ConfigContext context) {
 *     var lease = in.optional("lease", Duration.ofSeconds(15), Decode.duration(SECOND, HOUR));
 *     var poll = in.optional("poll", Duration.ofSeconds(1), Decode.duration(SECOND, HOUR));
 *     in.check();
 *     return new JobsConfig(lease.get(), poll.get());
 *   }
 * }
 * }
 */
public final class ConfigSection<T> {
  private final String key;
  private final Set<String> together;
  private final Function<ConfigContext, Decoder<T>> decoder;
  private final Function<ConfigContext, T> absent;

  private ConfigSection(
      String key, Function<ConfigContext, Decoder<T>> decoder, Function<ConfigContext, T> absent) {
    this(key, Set.of(), decoder, absent);
  }

  private ConfigSection(
      String key,
      Set<String> together,
      Function<ConfigContext, Decoder<T>> decoder,
      Function<ConfigContext, T> absent) {
    this.key = key;
    this.together = together;
    this.decoder = decoder;
    this.absent = absent;
  }

  /** An object. When it is left out the reader sees an empty one, and gives the defaults. */
  public static <T> ConfigSection<T> of(String key, BiFunction<Fields, ConfigContext, T> reader) {
    Function<ConfigContext, Decoder<T>> decoder =
        context -> Decode.object(in -> reader.apply(in, context));
    return new ConfigSection<>(
        key, decoder, context -> decoder.apply(context).decode(ReadYaml.EMPTY));
  }

  /** A list of objects; empty when it is left out. */
  public static <T> ConfigSection<List<T>> listOf(
      String key, BiFunction<Fields, ConfigContext, T> reader) {
    Supplier<List<T>> none = List::of;
    return new ConfigSection<>(
        key,
        context -> Decode.list(0, 1000, Decode.object(in -> reader.apply(in, context))),
        context -> none.get());
  }

  /**
   * Several top-level keys that only mean something together. The reader sees those that are there,
   * and names the whole path in what it refuses.
   */
  public static <T> ConfigSection<T> together(
      String key, Set<String> keys, BiFunction<JsonValue.Obj, ConfigContext, T> reader) {
    Function<ConfigContext, Decoder<T>> decoder =
        context ->
            value ->
                reader.apply(value instanceof JsonValue.Obj all ? all : ReadYaml.EMPTY, context);
    return new ConfigSection<>(
        key, keys, decoder, context -> decoder.apply(context).decode(ReadYaml.EMPTY));
  }

  public String key() {
    return key;
  }

  /** The keys that are read together; empty for a section of one key. */
  Set<String> keys() {
    return together;
  }

  Decoder<T> decoder(ConfigContext context) {
    return decoder.apply(context);
  }

  T absent(ConfigContext context) {
    return absent.apply(context);
  }
}
