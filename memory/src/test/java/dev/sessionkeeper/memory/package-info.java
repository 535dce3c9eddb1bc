@NullMarked
package dev.sessionkeeper.memory;

import org.jspecify.annotations.NullMarked;
