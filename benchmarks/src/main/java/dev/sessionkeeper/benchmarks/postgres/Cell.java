package dev.sessionkeeper.benchmarks.postgres;

import java.util.List;

/** One measurement. */
@FunctionalInterface
interface Cell {

  List<Row> run(Bench bench) throws Exception;
}
