/** Acts on many sessions or dead letters: counted first, then done in the background. */
@NullMarked
package dev.sessionkeeper.server.bulk;

import org.jspecify.annotations.NullMarked;
