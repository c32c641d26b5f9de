"""Files as people have them: every field as it stands there, and every mistake with its line."""

import csv
import gzip
import io
import os

import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.util import table_files
from netbandit.util.table_files import Records, Table, TableFileError, TextLines, finite, number


def file(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(folder, content, separators=",;\t", name="t.csv"):
    return [(record.line, record.cells) for record in Records(file(folder, content, name), separators)]


def whole(folder, content, name="t.csv"):
    table = Table(file(folder, content, name))
    return table.names, [(record.line, record.cells) for record in table]


def refused(folder, content, read=whole):
    with pytest.raises(TableFileError) as caught:
        read(folder, content)
    assert str(caught.value).startswith(str(folder / "t.csv"))
    return str(caught.value).removeprefix(str(folder / "t.csv"))


PLAIN = "a,b\n1,2\n3,4\n"
SAME = {
    "byte order mark": b"\xef\xbb\xbf" + PLAIN.encode(),
    "mark before a comment": b"\xef\xbb\xbf# hello\n" + PLAIN.encode(),
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "CR": PLAIN.replace("\n", "\r"),
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "quotes": '"a","b"\n"1","2"\n"3","4"\n',
    "blanks": " a , b\n 1 ,2\n3 , 4",
    "comments": "# one\n\na,b\n  # two, three, four\n1,2\n\n3,4\n#\n",
    "gzip": gzip.compress(PLAIN.encode(), mtime=0),
    "empty columns": "a,b,,\n1,2,,\n3,4,,\n",
}


@pytest.mark.parametrize("content", SAME.values(), ids=SAME)
def test_one_table_in_all_its_forms(tmp_path, content):
    names, found = whole(tmp_path, content)
    assert (names, [cells for _, cells in found]) == (("a", "b"), [["1", "2"], ["3", "4"]])


def test_fields_stay_as_they_are(tmp_path):
    text = 'name,value\nNA,01\n#1,1\n"#1",1e2\n"say ""a,b""",100\nx#y,"two\n# lines"\n,\n'
    assert whole(tmp_path, text)[1] == [
        (2, ["NA", "01"]),
        (4, ["#1", "1e2"]),
        (5, ['say "a,b"', "100"]),
        (6, ["x#y", "two\n# lines"]),
        (8, ["", ""]),
    ]


def test_blanks_separate_where_a_format_has_them(tmp_path):
    both = ",;\t "
    assert rows(tmp_path, 'a  b c\n"New York" \t x#y "#"\n', both) == [
        (1, ["a", "b", "c"]),
        (2, ["New York", "x#y", "#"]),
    ]
    assert rows(tmp_path, "New York, Bern\n", both) == [(1, ["New York", "Bern"])]
    assert rows(tmp_path, "New York\n") == [(1, ["New York"])]
    assert (
        refused(tmp_path, 'a b\n"a b\n', lambda *what: rows(*what, both))
        == ":2: a double quote is opened and never closed"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": is empty: the names of the columns must stand in its first line"),
        ("# only a comment\n", ": is empty: the names of the columns must stand in its first line"),
        ("a,b,a\n", ":1: the column a is there twice"),
        ("a,b\n\n1,2,3\n", ":3: has 3 fields, but line 1 names 2 columns"),
        ("a,b\n1,2\n3\n", ":3: has 1 field, but line 1 names 2 columns"),
        ("a,b\n1,2,\n", ":2: has 3 fields, but line 1 names 2 columns: it ends with a separator"),
        (
            "a,b,\n1,2\n",
            ":2: has 2 fields, but line 1 names 3 columns, the last without a name: line 1 ends with a separator",
        ),
        ("a,b,\n1,2,3\n", ":2: 3 stands in a column without a name"),
        (",,\n1,2,3\n", ":1: has no names of columns"),
        ('a,b\n1,2\n"3,4\n5,6\n', ":3: a double quote is opened and never closed"),
        (b"a,b\n1,\xff\n", ":2: the byte 0xff is not UTF-8: the file must be saved as UTF-8"),
        (
            "\ufeffa,b\n1,2\n\ufeff3,4\n",
            ":3: has a byte order mark, which is only at the beginning of a file: was one put behind another?",
        ),
        ("a,b\n".encode("utf-16"), ":1: is text in UTF-16: the file must be saved as UTF-8"),
        (b"a,b\n\0,1\n", ":2: has a zero byte: is no text"),
        (
            "a,b\n" + "1" * (1 << 17) + "1,2\n",
            ":2: has a field of more than 131,072 characters: is a quote not closed?",
        ),
        (b"\x1f\x8bnothing", ": is no gzipped file, or a damaged one"),
        (gzip.compress(b"a,b\n" * 99, mtime=0)[:-9], ": is no gzipped file, or a damaged one"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, content, message):
    assert refused(tmp_path, content) == message


def test_only_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, reason in (
        (tmp_path / "pipe", "is a pipe, must be a file"),
        (tmp_path, "is a folder, must be a file"),
        (table_files.Path("/dev/zero"), "is a device, must be a file"),
        (tmp_path / "none", "cannot be read: No such file or directory"),
        (tmp_path / "a\0b", "cannot be read: embedded null byte"),
        (file(tmp_path, "a\n", "t.csv.gz"), "is no gzipped file, or a damaged one"),
    ):
        with pytest.raises(TableFileError) as caught:
            Table(path)
        assert str(caught.value) == f"{path}: {reason}"


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_is_too_large_is_refused_before_a_line_of_it_is_read(tmp_path, packed):
    content = b"0,1\n" * 3000
    path = file(tmp_path, gzip.compress(content, mtime=0) if packed else content)
    lines = TextLines(path, most_bytes=len(content) - 1)
    with pytest.raises(TableFileError, match="has more than 11,999 bytes, which is the most that is read"):
        next(iter(lines))
    assert lines.number == 0
    assert len(list(TextLines(path, most_bytes=len(content)))) == 3000
    with pytest.raises(TableFileError, match=":1: is longer than 2 characters"):
        next(iter(TextLines(path, longest=2)))


def test_lines_of_other_formats(tmp_path):
    lines = TextLines(file(tmp_path, "\n # no\n up #1 \r\nlast"))
    assert [(lines.number, text) for text in lines.contents()] == [(3, "up #1"), (4, "last")]
    assert str(lines.error("is wrong")).endswith("t.csv:4: is wrong")


def test_what_is_a_number():
    texts = ["1", "-1e3", "1e999", "nan", "1_0", "٣", "", "0x1", "1,5"]
    assert [number(text) for text in texts] == [1, -1000, float("inf"), *[None] * 6]
    assert [finite(text) for text in texts] == [1, -1000, *[None] * 7]


FIELDS = st.text(st.sampled_from("ab1#., \t;\"'\n-é"), max_size=4)


@examples(150)
@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=4), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
)
def test_fields_are_those_of_the_csv_module(tmp_path_factory, written, separator, end, mark, packed):
    head = ["h"] * 30  # has most of the separator
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([head, *written])
    content = text.getvalue().encode("utf-8-sig" if mark else "utf-8")
    found = rows(tmp_path_factory.getbasetemp(), gzip.compress(content, mtime=0) if packed else content)
    assert [cells for _, cells in found[1:]] == [[cell.strip() for cell in row] for row in written]
    lines = [1]
    for row in [head, *written]:
        lines.append(lines[-1] + 1 + sum(cell.count("\n") for cell in row))
    assert [line for line, _ in found] == lines[:-1]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_blank_line_is_an_empty_field_where_there_is_one_column(tmp_path, end):
    """As R and spreadsheets write one that is missing; pandas writes quotes."""
    text = '# delays\n\nDELAY\n3\n\n# none\n  \n""\n4\n\n'.replace("\n", end)
    assert whole(tmp_path, text) == (("DELAY",), [(4, ["3"]), (5, [""]), (7, [""]), (8, [""]), (9, ["4"]), (10, [""])])
    assert [cells for _, cells in whole(tmp_path, "a\tb\n1\t2\n\t\n\n3\t4\n")[1]] == [["1", "2"], ["", ""], ["3", "4"]]
