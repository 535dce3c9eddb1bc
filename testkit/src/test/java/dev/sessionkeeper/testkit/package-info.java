@NullMarked
package dev.sessionkeeper.testkit;

import org.jspecify.annotations.NullMarked;
