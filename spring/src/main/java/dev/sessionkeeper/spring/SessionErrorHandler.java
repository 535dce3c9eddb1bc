package dev.sessionkeeper.spring;

import dev.sessionkeeper.processor.FailureRule;

/**
 * A bean that decides about failures of listeners. Where it answers nothing, the message is tried
 * again, and after its last attempt the poison policy decides.
 */
@FunctionalInterface
public interface SessionErrorHandler extends FailureRule {}
