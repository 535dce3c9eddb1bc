package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import org.slf4j.Logger;

/** Ends a hold whose lease is lost, exactly once, on the first thread that notices. */
final class LoseLease {
  private static final Logger log = ProcessorLog.LOG;

  private final Report report;

  LoseLease(Report report) {
    this.report = report;
  }

  void lost(Hold hold, Phase phase, KeeperException.LockLost error) {
    if (!hold.become(Hold.Status.LOST)) {
      return;
    }
    hold.calling.interrupt();
    log.warn(
        "Lost the lease on session {} with epoch {}; its open messages are delivered to the next owner",
        hold.id(),
        hold.epoch());
    report.tell(new ProcessorEvent.LeaseLost(hold.id(), hold.epoch()));
    report.failed(phase, hold, error);
  }
}
