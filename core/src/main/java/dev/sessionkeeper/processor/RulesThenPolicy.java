package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.ErrorContext;
import java.util.List;

/** Asks each rule in order, and the policy if no rule decides. */
record RulesThenPolicy(List<FailureRule> rules, FailurePolicy policy) implements FailurePolicy {

  @Override
  public Settlement onFailure(Delivery delivery, Exception failure) {
    return policy.onFailure(delivery, failure);
  }

  @Override
  public Settlement onFailure(Delivery delivery, Exception failure, ErrorContext context) {
    for (var rule : rules) {
      var decided = rule.decide(failure, context);
      if (decided.isPresent()) {
        return decided.get();
      }
    }
    return policy.onFailure(delivery, failure, context);
  }
}
