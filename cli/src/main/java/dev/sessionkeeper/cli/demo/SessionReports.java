package dev.sessionkeeper.cli.demo;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The reports about one session, and their evaluation. Not thread-safe. */
final class SessionReports {
  /**
   * A stable order: the reports of one epoch, which has one owner, stay in the order of arrival.
   */
  private static final Comparator<Handled> BY_OWNERSHIP = Comparator.comparingLong(Handled::epoch);

  /**
   * The evaluation of all reports.
   *
   * @param next the index of the first message that was not completed
   * @param lastAsked the index that a consumer last asked to complete, or -1
   * @param repeated messages handled again because their first consumer died before its answer
   *     arrived
   */
  record Account(
      int next, int lastAsked, int completed, int failed, int repeated, Set<String> violations) {}

  private final List<Handled> reports = new ArrayList<>();
  private @Nullable Account account;

  void add(Handled handled) {
    reports.add(handled);
    account = null;
  }

  Account account() {
    if (account == null) {
      reports.sort(BY_OWNERSHIP);
      account = new Replay().of(reports);
    }
    return account;
  }

  /**
   * Follows a session from owner to owner. After a consumer failed or died, its message may be
   * handled again, but never after its completion was confirmed or a later message was handled.
   */
  private static final class Replay {
    private final Set<String> violations = new LinkedHashSet<>();
    private final Set<Integer> confirmed = new HashSet<>();
    private @Nullable Handled before;
    private int next;
    private int lastAsked = -1;
    private int completed;
    private int failed;
    private int repeated;

    Account of(List<Handled> reports) {
      reports.forEach(this::follow);
      return new Account(next, lastAsked, completed, failed, repeated, violations);
    }

    private void follow(Handled handled) {
      if (before != null
          && before.epoch() == handled.epoch()
          && !before.consumer().equals(handled.consumer())) {
        violate(handled, "epoch " + handled.epoch() + " has two owners");
      }
      before = handled;
      if (handled.index() == next + 1 && lastAsked == next) {
        // The consumer that asked to complete the previous message was killed before it could
        // report.
        complete(next);
      }
      if (handled.index() > next) {
        violate(handled, "handled before #" + next + " was completed");
      }
      switch (handled.step()) {
        case COMPLETING -> ask(handled.index());
        case COMPLETED -> confirm(handled);
        case FAILED -> failed++;
      }
    }

    private void ask(int index) {
      if (lastAsked == index) {
        repeated++;
      }
      lastAsked = index;
    }

    private void confirm(Handled handled) {
      if (!confirmed.add(handled.index())) {
        violate(handled, "completed again after its completion was confirmed");
      }
      complete(handled.index());
    }

    private void complete(int index) {
      if (index >= next) {
        completed++;
        next = index + 1;
      }
    }

    private void violate(Handled handled, String what) {
      violations.add(handled.session() + "#" + handled.index() + ": " + what);
    }
  }
}
