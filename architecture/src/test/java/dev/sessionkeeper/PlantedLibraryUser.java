package dev.sessionkeeper;

import com.tngtech.archunit.base.DescribedPredicate;

/** Planted: a class of the core that uses a library. */
public final class PlantedLibraryUser {
  public DescribedPredicate<Object> always() {
    return DescribedPredicate.alwaysTrue();
  }
}
