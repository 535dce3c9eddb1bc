package dev.sessionkeeper.github;

import java.util.List;

/** The result of reading a configuration: bots, or every error in it. */
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
