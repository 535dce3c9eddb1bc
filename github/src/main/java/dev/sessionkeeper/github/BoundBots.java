package dev.sessionkeeper.github;

import java.util.List;

/** What came of a configuration: bots, or every mistake in it. */
public sealed interface BoundBots {
  record Valid(List<Bot> bots) implements BoundBots {
    public Valid {
      bots = List.copyOf(bots);
    }
  }

  record Invalid(List<ConfigProblem> problems) implements BoundBots {
    public Invalid {
      problems = List.copyOf(problems);
    }
  }
}
