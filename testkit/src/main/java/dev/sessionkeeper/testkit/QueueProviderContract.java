package dev.sessionkeeper.testkit;

/**
 * The contract of docs/reference/contract.md, for every provider.
 *
 * <p>A provider's test extends this class and says how a provider is created, and, if the provider
 * can run by a clock that a test moves, that it shall:
 *
 * <pre>{@code
 * class MemoryQueueProviderTest extends QueueProviderContract {
 *   @Override protected QueueProvider createProvider(TimeSource time) {
 *     return MemoryQueueProvider.create(time);
 *   }
 *
 *   @Override protected ContractTime contractTime() {
 *     return ContractTime.settable();
 *   }
 * }
 * }</pre>
 *
 * <p>A rule that the provider's capabilities name as impossible shows as skipped, with the reason;
 * so does a test that needs an interface which the provider does not implement. How each rule ended
 * is written to {@code target/contract/<provider>.json}.
 */
public abstract class QueueProviderContract extends BoundedBytesContract {}
