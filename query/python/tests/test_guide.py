"""Runs the examples of the guide's page about Python. `BLESS=1` writes their output into the page."""

import contextlib
import io
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/python.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


class Guide(unittest.TestCase):
    def test_examples_print_what_the_page_shows(self):
        os.chdir(ROOT)
        names = {}

        def run(example):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(example[1], names)
            return f"```python\n{example[1]}```\n\n```text\n{printed.getvalue()}```"

        page = PAGE.read_text()
        self.assertEqual(len(EXAMPLE.findall(page)), 5)
        found = EXAMPLE.sub(run, page)
        if os.environ.get("BLESS"):
            PAGE.write_text(found)
        else:
            self.assertEqual(found, page)


if __name__ == "__main__":
    unittest.main()
