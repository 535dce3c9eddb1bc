package dev.sessionkeeper;

import java.util.ArrayList;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the session of something that is about to become a message.
 *
 * <p>Extractors compose to a sentence:
 *
 * <pre>{@code
 * by(Order::customer).orElse(allOf(by(Order::shop), by(Order::device))).orElseUnique()
 * }</pre>
 *
 * <p>Equal keys give equal sessions, on every machine and in every version; a key that is too long,
 * or has other than printable ASCII characters, is shortened by {@link SessionId#fromKey}.
 */
@FunctionalInterface
public interface SessionKeyExtractor<T> {

  /** The session; empty when the source has no key, and so needs no order. */
  Optional<SessionId> extract(T source);

  /** One field. A source where it is null or blank has no key. */
  static <T> SessionKeyExtractor<T> by(Function<? super T, ? extends @Nullable Object> field) {
    return source ->
        Optional.<Object>ofNullable(field.apply(source))
            .map(Object::toString)
            .filter(key -> !key.isBlank())
            .map(SessionId::fromKey);
  }

  /**
   * Several fields, joined by {@code /}. A source that lacks one of them has no key. A slash inside
   * a field is written {@code %2F}, so that different fields never give the same session.
   */
  @SafeVarargs
  static <T> SessionKeyExtractor<T> allOf(SessionKeyExtractor<? super T>... fields) {
    var parts = new ArrayList<SessionKeyExtractor<? super T>>();
    for (var field : fields) {
      parts.add(field);
    }
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("allOf needs at least 1 field, was given none");
    }
    return source -> {
      var key = new StringBuilder();
      for (var part : parts) {
        var id = part.extract(source);
        if (id.isEmpty()) {
          return Optional.empty();
        }
        key.append(key.isEmpty() ? "" : "/");
        key.append(id.get().value().replace("%", "%25").replace("/", "%2F"));
      }
      return Optional.of(SessionId.fromKey(key.toString()));
    };
  }

  /** No order: nothing has a key. */
  static <T> SessionKeyExtractor<T> none() {
    return source -> Optional.empty();
  }

  /** Always this session: everything in one order. */
  static <T> SessionKeyExtractor<T> always(SessionId session) {
    return source -> Optional.of(session);
  }

  /** A property of a message. The module {@code jackson} has keys in JSON bodies. */
  static SessionKeyExtractor<Message> property(String name) {
    return by(message -> message.properties().get(name));
  }

  /** Returns an extractor that uses the fallback if this one finds no key. */
  default SessionKeyExtractor<T> orElse(SessionKeyExtractor<? super T> fallback) {
    return source -> {
      var found = extract(source);
      return found.isPresent() ? found : fallback.extract(source);
    };
  }

  /** A session of its own where there is no key: never refused, and ordered with nothing. */
  default SessionKeyExtractor<T> orElseUnique() {
    return orElse(source -> Optional.of(SessionId.unique()));
  }

  /** The same choice for something this one's source can be taken from. */
  default <S> SessionKeyExtractor<S> from(Function<? super S, ? extends T> source) {
    return outer -> extract(source.apply(outer));
  }
}
