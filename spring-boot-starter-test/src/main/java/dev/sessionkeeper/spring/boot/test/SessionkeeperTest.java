package dev.sessionkeeper.spring.boot.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * A test of session listeners with queues in memory: beans with a {@code @SessionListener} method,
 * error handlers, the template, and a {@link SessionkeeperProbe}. Other beans are left out.
 *
 * <p>Transactional listeners run without a transaction, because queues in memory have none to join.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(SessionkeeperTestBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(SessionkeeperTypeExcludeFilter.class)
@ImportAutoConfiguration
public @interface SessionkeeperTest {

  /** More properties, as {@code key=value}. */
  String[] properties() default {};

  /** Returns whether the default filters apply. */
  boolean useDefaultFilters() default true;

  /** Beans to include beside those of the slice. */
  Filter[] includeFilters() default {};

  /** Beans of the slice to leave out. */
  Filter[] excludeFilters() default {};
}
