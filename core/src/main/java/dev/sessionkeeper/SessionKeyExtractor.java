package dev.sessionkeeper;

import java.util.ArrayList;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the session of a value that is about to become a message.
 *
 * <p>Extractors can be combined:
 *
 * <pre>
 * {@code by(Order::customer).orElse(allOf(by(Order::shop), by(Order::device))).orElseUnique() }
 * </pre>
 *
 * <p>Equal keys give equal sessions, on every machine and in every version. {@link
 * SessionId#fromKey} shortens a key that is too long or has other than printable ASCII characters.
 */
@FunctionalInterface
public interface SessionKeyExtractor<T> {

  /** Returns the session, or empty if the source has no key and needs no order. */
  Optional<SessionId> extract(T source);

  /** Returns an extractor of one field. A source whose field is null or blank has no key. */
  static <T> SessionKeyExtractor<T> by(Function<? super T, ? extends @Nullable Object> field) {
    return source ->
        Optional.<Object>ofNullable(field.apply(source))
            .map(Object::toString)
            .filter(key -> !key.isBlank())
            .map(SessionId::fromKey);
  }

  /**
   * Returns an extractor of several fields, joined by {@code /}. A source that lacks one of them
   * has no key. A slash inside a field is written {@code %2F}, so that different fields never give
   * the same session.
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

  /** Returns an extractor that finds no key in any source, so that messages have no order. */
  static <T> SessionKeyExtractor<T> none() {
    return source -> Optional.empty();
  }

  /** Returns an extractor that always chooses this session, so that all messages have one order. */
  static <T> SessionKeyExtractor<T> always(SessionId session) {
    return source -> Optional.of(session);
  }

  /**
   * Returns an extractor of a property of a message. The module {@code jackson} has one for keys in
   * JSON bodies.
   */
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

  /** Returns an extractor that gives a source without a key a session of its own. */
  default SessionKeyExtractor<T> orElseUnique() {
    return orElse(source -> Optional.of(SessionId.unique()));
  }

  /** Returns this extractor for another type, from which the source is derived. */
  default <S> SessionKeyExtractor<S> from(Function<? super S, ? extends T> source) {
    return outer -> extract(source.apply(outer));
  }
}
