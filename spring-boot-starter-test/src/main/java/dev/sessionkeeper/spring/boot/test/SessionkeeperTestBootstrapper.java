package dev.sessionkeeper.spring.boot.test;

import java.util.Arrays;
import java.util.stream.Stream;
import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;

/** Sets the provider to memory, whatever the application's own properties say. */
final class SessionkeeperTestBootstrapper
    extends TestSliceTestContextBootstrapper<SessionkeeperTest> {

  @Override
  protected String[] getProperties(Class<?> testClass) {
    return Stream.concat(
            Stream.of("sessionkeeper.provider=memory"),
            Arrays.stream(super.getProperties(testClass)))
        .toArray(String[]::new);
  }
}
