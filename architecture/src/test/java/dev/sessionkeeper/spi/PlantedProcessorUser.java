package dev.sessionkeeper.spi;

import dev.sessionkeeper.processor.ProcessorOptions;

/** Planted: a class of the SPI that uses the processor. */
public final class PlantedProcessorUser {
  public ProcessorOptions options() {
    return ProcessorOptions.ofDefaults();
  }
}
