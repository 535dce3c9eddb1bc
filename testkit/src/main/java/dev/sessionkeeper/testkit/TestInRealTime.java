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
 * A test whose leases are short and really expire.
 *
 * <p>If it fails while the machine stalled, which makes the lease of a correct owner expire, that
 * attempt shows as skipped and the test is repeated from a new instance, at most five times. A
 * failure without a stall counts at once.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@Execution(ExecutionMode.SAME_THREAD)
@ExtendWith(TryAgainAfterStall.class)
public @interface TestInRealTime {}
