package dev.sessionkeeper.coalescing;

class MemoryLastValueStoreTest extends LastValueStoreContract {
  @Override
  LastValueStore<String, String> anyKeys() {
    return MemoryLastValueStore.create();
  }

  @Override
  LastValueStore<String, String> onlyKnown() {
    var store = MemoryLastValueStore.<String, String>ofKnownKeys();
    store.put("known", 0, "");
    return store;
  }
}
