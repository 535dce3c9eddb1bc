package dev.sessionkeeper.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.spring.SessionListener;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.annotation.AnnotationConfigUtils;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

/** An application whose context was generated ahead of time runs on the JVM. */
class AheadOfTimeTest {
  public record Greeting(String text) {}

  static final List<String> SEEN = new CopyOnWriteArrayList<>();

  public static class Greeter {
    @SessionListener(queue = "greetings")
    void on(Greeting greeting) {
      SEEN.add(greeting.text());
    }
  }

  private static GenericApplicationContext empty() {
    var context = new GenericApplicationContext();
    context
        .getEnvironment()
        .getPropertySources()
        .addFirst(
            new MapPropertySource(
                "test",
                Map.of(
                    "sessionkeeper.provider", "memory",
                    "sessionkeeper.queues.greetings.mode", "ordered")));
    return context;
  }

  @Test
  @CompileWithForkedClassLoader
  void listenersHandleMessagesInAGeneratedContext() {
    var described = empty();
    AnnotationConfigUtils.registerAnnotationConfigProcessors(described);
    new AnnotatedBeanDefinitionReader(described)
        .register(
            Greeter.class, JacksonAutoConfiguration.class, SessionkeeperAutoConfiguration.class);
    var generation = new TestGenerationContext(AheadOfTimeTest.class);
    var initializer =
        new ApplicationContextAotGenerator().processAheadOfTime(described, generation);
    generation.writeGeneratedContent();

    TestCompiler.forSystem()
        .with(generation)
        .compile(
            compiled -> {
              try (var running = empty()) {
                @SuppressWarnings("unchecked")
                var generated =
                    (ApplicationContextInitializer<GenericApplicationContext>)
                        compiled.getInstance(
                            ApplicationContextInitializer.class, initializer.reflectionName());
                generated.initialize(running);
                running.refresh();
                running
                    .getBean(SessionkeeperTemplate.class)
                    .send("greetings", "a", new Greeting("hello"));
                Awaitility.await().untilAsserted(() -> assertThat(SEEN).containsExactly("hello"));
              }
            });
  }
}
