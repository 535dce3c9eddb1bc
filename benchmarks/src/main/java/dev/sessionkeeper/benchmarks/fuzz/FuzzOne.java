package dev.sessionkeeper.benchmarks.fuzz;

import java.util.Locale;

/** The entry point that Jazzer calls for one input. */
public final class FuzzOne {
  static final String PROPERTY = "keeper.fuzz.target";

  private static final Target TARGET =
      Target.valueOf(System.getProperty(PROPERTY, "cursor").toUpperCase(Locale.ROOT));

  private FuzzOne() {}

  /** Tests one input. Jazzer requires this name. */
  public static void fuzzerTestOneInput(byte[] input) throws Exception {
    TARGET.take(input);
  }
}
