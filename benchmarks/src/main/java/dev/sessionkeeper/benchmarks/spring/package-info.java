/** The listener of the Spring Boot starter compared with the processor without Spring. */
@NullMarked
package dev.sessionkeeper.benchmarks.spring;

import org.jspecify.annotations.NullMarked;
