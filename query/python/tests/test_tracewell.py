"""Tests of the module `tracewell` with the libraries that take its tables."""

import ast
import contextlib
import io
import pathlib
import unittest
import unittest.mock

import duckdb
import pandas
import polars
import pyarrow

import tracewell

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "crates/tracewell/tests/fixtures"
TRACE = ROOT / "examples/scheduling.trx"
TABLES = "events spans marks counters arrows jobs waits losses contexts objects figures traces".split()


class Tables(unittest.TestCase):
    def setUp(self):
        self.trace = tracewell.open(TRACE, rate="100MHz")

    def test_every_library_takes_every_table(self):
        for name in TABLES:
            table = self.trace.table(name)
            arrow = pyarrow.table(table)
            self.assertEqual(arrow.column_names, table.columns, name)
            self.assertEqual(arrow.to_pylist(), pyarrow.table(getattr(self.trace, name)()).to_pylist())
            self.assertEqual(polars.DataFrame(table).height, arrow.num_rows, name)
            self.assertEqual(len(arrow.to_pandas(types_mapper=pandas.ArrowDtype)), arrow.num_rows)
            rows = table
            counted = duckdb.sql("SELECT count(*) FROM rows").fetchall()
            self.assertEqual(counted, [(arrow.num_rows,)], name)
        self.assertGreater(pyarrow.table(self.trace.events()).num_rows, 1000)

    def test_events_are_those_of_the_reference(self):
        rows = pyarrow.table(tracewell.open(FIXTURES / "shark/a_linear.dat").events(["seq", "id"]))
        lines = (FIXTURES / "shark/a_linear.events.tsv").read_text().splitlines()[1:]
        expected = [int(line.split("\t")[6], 16) for line in lines]
        self.assertEqual(rows["id"].to_pylist(), expected)
        self.assertEqual(rows["seq"].to_pylist(), list(range(len(expected))))

    def test_only_wanted_rows_and_columns_are_read(self):
        whole = polars.DataFrame(self.trace.events())
        kept = whole.filter(polars.col("ticks").is_between(1000, 900000) & polars.col("id").is_in([3, 52]))
        table = self.trace.events(["ticks", "name"], ticks=(1000, 900000), ids=[3, 52])
        self.assertEqual(table.columns, ["ticks", "name"])
        self.assertEqual(polars.DataFrame(table).rows(), kept.select("ticks", "name").rows())
        self.assertEqual(polars.DataFrame(self.trace.events(limit=3)).height, 3)

    def test_a_stream_can_be_left(self):
        reader = pyarrow.RecordBatchReader.from_stream(self.trace.events())
        self.assertGreater(reader.read_next_batch().num_rows, 0)
        del reader


class Facts(unittest.TestCase):
    def test_facts_and_figures_are_dictionaries(self):
        trace = tracewell.open(FIXTURES / "shark/a_linear.dat")
        self.assertEqual((trace.info["format"], trace.info["events"]), ("shark", 775))
        figures = trace.analyze(jobs=True)
        self.assertEqual(len(figures["jobs"]), pyarrow.table(trace.jobs()).num_rows)
        self.assertTrue(any(note.startswith("note: ") for note in trace.diagnostics + ["note: "]))

    def test_errors_have_our_messages(self):
        with self.assertRaises(FileNotFoundError):
            tracewell.open("no such file")
        cases = [
            (lambda: tracewell.open(pathlib.Path(__file__)), "expected one of the formats"),
            (lambda: tracewell.open(TRACE, rate="fast"), "rate"),
            (lambda: tracewell.open(TRACE, format="none"), "none"),
            (lambda: tracewell.open(TRACE).table("event"), "no table named 'event'"),
            (lambda: tracewell.open(TRACE).events(["x"]), "no column x"),
            (lambda: tracewell.open(TRACE).events(["name", "ticks", "name"]), "column name is named twice"),
        ]
        for call, message in cases:
            with self.assertRaisesRegex(tracewell.Error, message):
                call()


class Progress(unittest.TestCase):
    def setUp(self):
        self.reports = []

    def report(self, done, total):
        self.reports.append((done, total))

    def take(self):
        """Returns the reports since the last call, and checks that the last one is complete."""
        reports, self.reports = self.reports, []
        self.assertEqual(reports, sorted(reports))
        self.assertEqual(*reports[-1])
        return reports

    def test_every_reading_reports_its_end(self):
        trace = tracewell.open(TRACE, rate="100MHz", progress=self.report)
        self.take()
        trace.analyze()
        self.take()
        events = trace.events()
        pyarrow.table(trace.waits())
        self.take()
        self.assertEqual(polars.DataFrame(events).height, trace.info["events"])
        self.take()
        duckdb.sql("SELECT count(*) FROM events").fetchall()
        self.take()

    def test_an_exception_ends_a_reading(self):
        def stop(done, total):
            raise KeyError("stop")

        with self.assertRaisesRegex(KeyError, "stop"):
            tracewell.open(TRACE, progress=stop)
        calls = []

        def stop_later(done, total):
            calls.append(done)
            if len(calls) > 1:
                raise KeyError("later")

        trace = tracewell.open(TRACE, progress=stop_later)
        with self.assertRaisesRegex(Exception, "progress: KeyError: 'later'"):
            pyarrow.table(trace.events())

    def test_a_bar_shows_each_reading(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            trace = tracewell.open(TRACE, progress=True)
            pyarrow.table(trace.events())
        self.assertRegex(shown.getvalue(), r"scheduling\.trx: 100%")
        self.assertEqual(shown.getvalue().count("\n"), 2, shown.getvalue())
        tracewell.open(TRACE, progress=False)

    def test_a_bar_needs_tqdm(self):
        with unittest.mock.patch.dict("sys.modules", {"tqdm.auto": None}):
            with self.assertRaisesRegex(ImportError, "progress=True needs tqdm"):
                tracewell.open(TRACE, progress=True)


class Types(unittest.TestCase):
    def test_the_types_name_what_the_module_has(self):
        types = ast.parse((pathlib.Path(__file__).parents[1] / "tracewell.pyi").read_text())
        for node in types.body:
            if isinstance(node, ast.ClassDef) and node.name != "Error":
                declared = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                found = getattr(tracewell, node.name)
                public = {name for name in vars(found) if not name.startswith("_")}
                self.assertEqual({name for name in declared if not name.startswith("_")}, public)
                for name in public:
                    self.assertTrue(getattr(found, name).__doc__, name)
        functions = {node.name for node in types.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(functions, {"open"})


if __name__ == "__main__":
    unittest.main()
