package dev.sessionkeeper.benchmarks.postgres;

import java.util.List;

/** Something that is measured. */
@FunctionalInterface
interface Cell {

  List<Row> run(Bench bench) throws Exception;
}
