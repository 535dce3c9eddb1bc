package dev.sessionkeeper.architecture;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.time.Instant;

/** Planted: uses of what the bans forbid. */
final class PlantedHabits {
  private PlantedHabits() {}

  static final class ReadsTheClock {
    @SuppressWarnings("TimeInStaticInitializer")
    Instant now() {
      return Instant.now();
    }
  }

  static final class Serialises {
    Object read(ObjectInputStream in) throws IOException, ClassNotFoundException {
      return in.readObject();
    }
  }

  static final class ChecksSignature {
    boolean isRight(String expected, String given) {
      return expected.equals(given);
    }
  }

  static final class KnowsSpring {
    void start(org.springframework.context.SmartLifecycle lifecycle) {
      lifecycle.start();
    }
  }

  static final class Prints {
    void print() {
      System.out.println("hello");
    }
  }

  static final class UsesInternals {
    long micros(java.time.Duration duration) {
      return dev.sessionkeeper.postgres.jdbc.Micros.of(duration);
    }
  }
}
