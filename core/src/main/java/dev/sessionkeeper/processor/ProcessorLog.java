package dev.sessionkeeper.processor;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of the processor and its workers, named like the interface that applications use. */
final class ProcessorLog {
  static final Logger LOG = LoggerFactory.getLogger("dev.sessionkeeper.processor.SessionProcessor");

  private ProcessorLog() {}
}
