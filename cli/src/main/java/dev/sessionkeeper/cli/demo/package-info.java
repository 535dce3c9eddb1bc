/** {@code keeper demo}: shows on a running server that order holds while consumers fail and die. */
@NullMarked
package dev.sessionkeeper.cli.demo;

import org.jspecify.annotations.NullMarked;
