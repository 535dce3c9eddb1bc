package dev.sessionkeeper.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.RetryPolicy;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** The defaults that an editor shows are those of the library. */
class SessionkeeperPropertiesTest {

  @Test
  void retriesAreThoseOfTheLibraryUnlessSet() {
    var properties =
        new Binder(new MapConfigurationPropertySource(Map.of()))
            .bindOrCreate("sessionkeeper", SessionkeeperProperties.class);

    assertThat(properties.listener().retry().policy()).isEqualTo(RetryPolicy.ofDefaults());
  }
}
