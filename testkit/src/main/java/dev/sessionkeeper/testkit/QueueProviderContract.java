package dev.sessionkeeper.testkit;

/**
 * The contract of docs/reference/contract.md, for every provider.
 *
 * <p>A provider's test extends this class and creates the provider. If a test can move the
 * provider's clock, it also overrides the time:
 *
 * <pre>
 * {@code class MemoryQueueProviderTest extends QueueProviderContract { @Override protected QueueProvider createProvider(TimeSource time) { return MemoryQueueProvider.create(time); } @Override protected ContractTime contractTime() { return ContractTime.settable(); } } }
 * </pre>
 *
 * <p>A rule that the provider's capabilities declare impossible shows as skipped, with the reason;
 * so does a test that needs an interface which the provider does not implement. The result of each
 * rule is written to {@code target/contract/<provider>.json}.
 */
public abstract class QueueProviderContract extends BoundedBytesContract {}
