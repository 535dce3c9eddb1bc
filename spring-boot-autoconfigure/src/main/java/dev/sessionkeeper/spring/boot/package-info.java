/** Auto-configuration for Spring Boot: provider, queues, listeners, health, metrics, actuator. */
@NullMarked
package dev.sessionkeeper.spring.boot;

import org.jspecify.annotations.NullMarked;
