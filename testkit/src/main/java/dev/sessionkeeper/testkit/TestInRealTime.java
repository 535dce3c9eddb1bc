package dev.sessionkeeper.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A test whose leases are short and really run out.
 *
 * <p>If it fails while the machine stood still, which lets a lease run out under the best of
 * owners, that try shows as skipped and the test is tried again, from a new instance, five times at
 * most. A failure without a stall stands at once.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@Execution(ExecutionMode.SAME_THREAD)
@ExtendWith(TryAgainAfterStall.class)
public @interface TestInRealTime {}
