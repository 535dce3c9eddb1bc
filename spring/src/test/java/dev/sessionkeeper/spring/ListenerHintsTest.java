package dev.sessionkeeper.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.processor.SessionContext;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;

/** Ahead-of-time processing knows what a listener needs at run time. */
class ListenerHintsTest {
  record Placed(Line line) {}

  record Line(String sku) {}

  static class Shop {
    @SessionListener(queue = "orders")
    void on(Placed order, SessionContext session) {}
  }

  private static RuntimeHints hintsOf(Class<?> bean) {
    var context = new GenericApplicationContext();
    context.registerBeanDefinition("shop", new RootBeanDefinition(bean));
    var generation = new TestGenerationContext();
    new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
    return generation.getRuntimeHints();
  }

  @Test
  void theMethodIsInvokedAndThePayloadBoundWithAllItsParts() throws Exception {
    var hints = hintsOf(Shop.class);

    assertThat(
            RuntimeHintsPredicates.reflection()
                .onMethodInvocation(
                    Shop.class.getDeclaredMethod("on", Placed.class, SessionContext.class)))
        .accepts(hints);
    assertThat(RuntimeHintsPredicates.reflection().onType(Placed.class)).accepts(hints);
    assertThat(
            RuntimeHintsPredicates.reflection()
                .onType(Line.class)
                .withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS))
        .accepts(hints);
    assertThat(RuntimeHintsPredicates.reflection().onType(SessionContext.class)).rejects(hints);
  }
}
