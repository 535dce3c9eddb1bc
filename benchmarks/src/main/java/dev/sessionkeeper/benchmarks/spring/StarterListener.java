package dev.sessionkeeper.benchmarks.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.RunningListener;
import dev.sessionkeeper.spring.SessionListener;
import dev.sessionkeeper.spring.SessionListeners;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** An application of Spring Boot with the starter and one listener. */
final class StarterListener implements Contender {
  private final String name;
  private final ConfigurableApplicationContext application;
  private final RunningListener listener;

  /** Applications of this benchmark. */
  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  /** Counts messages. */
  interface Counting {
    LongAdder handled();
  }

  /** Counts messages and does nothing else. */
  record Count(LongAdder handled) implements Counting {
    @SessionListener(queue = "${bench.queue}", id = "bench")
    void on(Order order) {
      handled.increment();
    }
  }

  /** Writes a row in the transaction that settles the message. */
  record Book(LongAdder handled, JdbcClient jdbc) implements Counting {
    @SessionListener(queue = "${bench.queue}", id = "bench", transactional = true)
    void on(Order order) {
      jdbc.sql("INSERT INTO booked VALUES (?, ?)")
          .params(order.customer(), order.number())
          .update();
      handled.increment();
    }
  }

  private StarterListener(String name, ConfigurableApplicationContext application) {
    this.name = name;
    this.application = application;
    this.listener = application.getBean(SessionListeners.class).find("bench").orElseThrow();
    pause();
  }

  static StarterListener memory(String name, boolean observed) {
    return start(name, "memory", observed, context -> bean(context, new Count(new LongAdder())));
  }

  static StarterListener postgres(String name, DataSource source, boolean observed) {
    return start(
        name,
        "postgres",
        observed,
        context -> {
          context.registerBean(DataSource.class, () -> source);
          bean(context, new Count(new LongAdder()));
        });
  }

  static StarterListener transactional(String name, DataSource source) {
    return start(
        name,
        "postgres",
        false,
        context -> {
          context.registerBean(DataSource.class, () -> source);
          bean(context, new Book(new LongAdder(), JdbcClient.create(source)));
        });
  }

  private static void bean(GenericApplicationContext context, Counting listener) {
    context.registerBean(Counting.class, () -> listener);
  }

  /** Adds beans to an application before it starts. */
  @FunctionalInterface
  private interface Beans {
    void addTo(GenericApplicationContext context);
  }

  private static StarterListener start(
      String name, String provider, boolean observed, Beans beans) {
    var queue = name.replace(' ', '-');
    var application =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.NONE)
            .bannerMode(Banner.Mode.OFF)
            .logStartupInfo(false)
            .registerShutdownHook(false)
            .properties(
                Map.of(
                    "bench.queue",
                    queue,
                    "spring.autoconfigure.exclude",
                    "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                    "sessionkeeper.provider",
                    provider,
                    "sessionkeeper.queues." + queue + ".mode",
                    "ordered",
                    "sessionkeeper.listener.concurrency",
                    SESSIONS_AT_ONCE))
            .initializers(
                context -> {
                  var all = (GenericApplicationContext) context;
                  beans.addTo(all);
                  if (observed) {
                    observe(all);
                  }
                })
            .run();
    return new StarterListener(name, application);
  }

  private static void observe(GenericApplicationContext context) {
    var observing = Observing.asActuator();
    context.registerBean(MeterRegistry.class, observing::meters);
    context.registerBean(ObservationRegistry.class, observing::observations);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public QueueProvider provider() {
    return application.getBean(QueueProvider.class);
  }

  @Override
  public QueueName queue() {
    return listener.queue();
  }

  @Override
  public long handled() {
    return application.getBean(Counting.class).handled().sum();
  }

  @Override
  public void resume() {
    listener.resume();
  }

  @Override
  public void pause() {
    listener.pause();
  }

  @Override
  public int activeSessions() {
    return listener.activeSessions();
  }

  @Override
  public void close() {
    application.close();
  }
}
