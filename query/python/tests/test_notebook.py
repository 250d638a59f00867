"""Runs the notebook of `examples/`, and compares its variables with the figures of the trace."""

import pathlib
import unittest

import nbclient
import nbformat

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"

CHECK = """
assert 20 < len(load) < 60 and 99 < load.drop("window").sum_horizontal()[5] < 100.001
longest = dict(jobs.group_by("context_name").agg(pl.col("duration_ns").max()).iter_rows())
assert len(longest) == 6
for task, most in zip(table["subject"], table["max"]):
    # The begin and the end of a job are each rounded to nanoseconds.
    assert abs(longest[task] - most) <= 1, task
"""


class Notebook(unittest.TestCase):
    def test_cells_run_and_plot(self):
        notebook = nbformat.read(EXAMPLES / "load-and-responses.ipynb", 4)
        notebook.cells.append(nbformat.v4.new_code_cell(CHECK))
        resources = {"metadata": {"path": str(EXAMPLES)}}
        nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        pictures = [output for output in outputs if "image/png" in output.get("data", {})]
        self.assertEqual(len(pictures), 2)


if __name__ == "__main__":
    unittest.main()
