"""Measures queries and ingestion, and compares the queries with DuckDB on the same Parquet files.

    python3 query/bench/compare.py TRACE [--programs FOLDER] [--rounds N]

TRACE is a ThreadX dump, for example of `make-trace 1526MiB big.trx` (50 million events). The script measures:

* groups by id, and by the names of context and event, over the Parquet file of all events: this engine and DuckDB
* a count by id straight from the trace: this engine, and a plain decode (opening the trace in Python)
* ingestion: events per second of processor time

--programs is the folder of `tracewell-query` and `tracewell-ingest`. Without it, the script uses the package
`datafusion` (the same engine) instead of `tracewell-query`, writes the Parquet file with pyarrow, and does not measure
ingestion. Each round measures the candidates in turn, and the table shows medians. It needs the packages in
`query/python/requirements.txt`, the module `tracewell`, and `datafusion` if there are no programs.
"""

import argparse
import csv
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import duckdb
import pyarrow
import pyarrow.parquet

import tracewell

GROUP_BY = "SELECT id, count(*) AS n, max(ticks) AS last, sum({argument}) AS total FROM {table} GROUP BY id ORDER BY id"
COUNT_BY_ID = "SELECT id, count(*) AS n FROM {table} GROUP BY id ORDER BY id"
# Both columns are texts that repeat.
COUNT_BY_NAMES = "SELECT context_name, name, count(*) AS n FROM {table} GROUP BY context_name, name ORDER BY context_name, name"


def timed(work):
    """Returns the seconds that a function needs, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def interleaved(rounds, candidates):
    """Returns the median of each candidate's seconds, and its last result."""
    seconds, results = {name: [] for name in candidates}, {}
    for _ in range(rounds):
        for name, work in candidates.items():
            took, results[name] = timed(work)
            seconds[name].append(took)
    return {name: statistics.median(took) for name, took in seconds.items()}, results


def processor_seconds():
    """Returns the processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def csv_rows(text):
    """Returns the rows of a CSV text as tuples of whole numbers and texts. Null is 0."""
    value = lambda cell: int(cell or 0) if not cell.strip("-0123456789") else cell
    return [tuple(map(value, cells)) for cells in list(csv.reader(text.splitlines()))[1:]]


class Programs:
    """The programs of this workspace."""

    name = "tracewell-query"

    def __init__(self, folder, trace, work):
        self.folder, self.trace, self.work = folder, trace, work

    def run(self, program, *arguments):
        command = [str(self.folder / program), *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def parquet(self, events):
        before = processor_seconds()
        lake = self.work / "lake"
        took, _ = timed(lambda: self.run("tracewell-ingest", self.trace, "-o", lake, "--tables", "events"))
        used = processor_seconds() - before
        [file] = (lake / "data/events").rglob("*.parquet")
        row("ingest, events per second of a core", f"{events / used / 1e6:.2f} million", f"{took:.1f} s in all")
        return file

    def rows(self, sql, table):
        return csv_rows(self.run("tracewell-query", sql.replace("{table}", f"'{table}'"), "--format", "csv"))

    def count_by_id(self):
        return self.rows(COUNT_BY_ID, self.trace)


class Package:
    """The engine from the package index, and the module `tracewell`."""

    name = "datafusion (package)"

    def __init__(self, trace, work):
        self.trace, self.work = trace, work

    def parquet(self, events):
        file = self.work / "events.parquet"
        trace = tracewell.open(self.trace)
        # A lake has no column `text` either.
        columns = [column for column in trace.events().columns if column != "text"]
        stream = pyarrow.RecordBatchReader.from_stream(trace.events(columns))
        with pyarrow.parquet.ParquetWriter(file, stream.schema, compression="zstd") as writer:
            for batch in stream:
                writer.write_batch(batch)
        return file

    def rows(self, sql, table):
        import datafusion

        context = datafusion.SessionContext()
        context.register_parquet("rows", str(table))
        frame = context.sql(sql.replace("{table}", "rows")).to_pylist()
        return [tuple(value or 0 for value in row.values()) for row in frame]

    def count_by_id(self):
        events = pyarrow.RecordBatchReader.from_stream(tracewell.open(self.trace).events(["id"]))
        return duckdb.sql("SELECT id, count(*) FROM events GROUP BY id ORDER BY id").fetchall()


def in_duckdb(sql, file):
    found = duckdb.sql(sql.replace("{table}", f"read_parquet('{file}')")).fetchall()
    return [tuple(value or 0 for value in row) for row in found]


def number_column(trace):
    """Returns the name of the first argument that is a number."""
    schema = pyarrow.RecordBatchReader.from_stream(trace.events(limit=1)).schema
    numbers = (field.name for field in schema if field.name.startswith("arg_") and pyarrow.types.is_integer(field.type))
    return next(numbers, "seq")


def row(what, value, remark=""):
    print(f"| {what} | {value} | {remark} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    trace = options.trace.resolve()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        programs = options.programs
        ours = Programs(programs.resolve(), trace, work) if programs else Package(trace, work)
        opened = tracewell.open(trace)
        events = opened.info["events"]
        argument = number_column(opened)
        print(f"{events} events, {trace.stat().st_size} bytes, {os.cpu_count()} cores, {options.rounds} rounds\n")
        print("| what | median | |\n|---|---|---|")
        file = ours.parquet(events)
        row("Parquet, bytes per event", f"{file.stat().st_size / events:.2f}")
        group_by = GROUP_BY.format(argument=argument, table="{table}")
        for name, sql in {"group-by": group_by, "count by id": COUNT_BY_ID, "count by names": COUNT_BY_NAMES}.items():
            candidates = {ours.name: lambda: ours.rows(sql, file), "DuckDB": lambda: in_duckdb(sql, file)}
            seconds, results = interleaved(options.rounds, candidates)
            assert results[ours.name] == results["DuckDB"], results
            ratio = seconds[ours.name] / seconds["DuckDB"]
            row(f"{name} over Parquet, {ours.name}", f"{seconds[ours.name]:.3f} s", f"{ratio:.2f} times DuckDB's time")
            row(f"{name} over Parquet, DuckDB", f"{seconds['DuckDB']:.3f} s")
        candidates = {"count by id": ours.count_by_id, "plain decode": lambda: tracewell.open(trace)}
        seconds, results = interleaved(options.rounds, candidates)
        counted = sum(count for _, count in results["count by id"])
        assert counted == events, counted
        speed = seconds["plain decode"] / seconds["count by id"]
        row("count by id from the trace", f"{seconds['count by id']:.3f} s", f"{speed:.2f} of the plain decode's speed")
        row("plain decode", f"{seconds['plain decode']:.3f} s", f"{seconds['plain decode'] / events * 1e9:.1f} ns per event")


if __name__ == "__main__":
    main()
