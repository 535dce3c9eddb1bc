package dev.sessionkeeper.processor;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.ErrorContext;
import java.util.ArrayList;
import java.util.Optional;

/** Decides about some failures of a handler, and leaves the others to the {@link FailurePolicy}. */
@FunctionalInterface
public interface FailureRule {

  /** Returns how the message ends, or empty when this rule does not know the failure. */
  Optional<Settlement> decide(Exception failure, ErrorContext context);

  /**
   * Returns a rule that dead-letters a message at once when its handler throws an exception of this
   * type.
   */
  @SafeVarargs
  static FailureRule deadLetterOn(Class<? extends Throwable>... types) {
    var all = new ArrayList<Class<? extends Throwable>>(types.length);
    for (var type : types) {
      all.add(type);
    }
    return (failure, context) ->
        all.stream().anyMatch(type -> type.isInstance(failure))
            ? Optional.of(
                Settlement.deadLetter(failure.getClass().getName(), String.valueOf(failure)))
            : Optional.empty();
  }
}
