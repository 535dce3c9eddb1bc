package dev.sessionkeeper.spring;

import dev.sessionkeeper.processor.FailureRule;

/**
 * A bean that decides about failures of listeners. If it returns empty, the message is retried, and
 * after its last attempt the poison policy decides.
 */
@FunctionalInterface
public interface SessionErrorHandler extends FailureRule {}
