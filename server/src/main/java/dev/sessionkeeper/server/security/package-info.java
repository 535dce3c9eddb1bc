/** Access control: open loopback, API keys, tokens, rate limits and the audit log. */
@NullMarked
package dev.sessionkeeper.server.security;

import org.jspecify.annotations.NullMarked;
