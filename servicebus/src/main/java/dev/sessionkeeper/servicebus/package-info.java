/** Azure Service Bus as a provider: its native sessions through the vendor's SDK. */
@NullMarked
package dev.sessionkeeper.servicebus;

import org.jspecify.annotations.NullMarked;
