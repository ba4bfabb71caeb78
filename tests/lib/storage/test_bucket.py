"""Results in a bucket: written by shards, merged, and compared with. The bucket is a file system of fsspec's."""

from __future__ import annotations

import pytest
from fsspec import register_implementation
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

from tests.ending import ended
from tests.sample_suites import EXACT, numbered


@pytest.fixture
def bucket(project, tmp_path_factory):
    """What `s3://evals` has, as a folder."""
    folder = tmp_path_factory.mktemp("bucket")

    class Bucket(DirFileSystem):
        protocol = "s3"
        cachable = False

        def __init__(self):
            super().__init__(path=str(folder), fs=LocalFileSystem(auto_mkdir=True))

        @classmethod
        def _strip_protocol(cls, path):
            return path.removeprefix("s3://evals").strip("/")

        def unstrip_protocol(self, name):
            return f"s3://evals/{name}"

    register_implementation("s3", Bucket, clobber=True)
    project.write("evals.json", {**EXACT, "items": numbered(6, "yes")})
    project.write("agent.py", "def answer(prompt):\n    return 'yes'\n")
    project.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer'}\n")
    return folder


def test_shards_write_to_a_bucket_and_are_merged_from_there(project, bucket, runevals):
    for part in (1, 2):
        code, out, err = runevals("--shard", f"{part}/2", "-o", f"s3://evals/run-7/{part}.json")
        assert code == 0, err
        assert f"Copied to: s3://evals/run-7/{part}.json" in out
    assert sorted(path.name for path in (bucket / "run-7").iterdir()) == ["1.json", "2.json"]
    code, out, err = runevals("merge", "s3://evals/run-7/", "-o", "merged.json")
    ended(code, 0, out + err, "6 of 6 cases pass")
    (bucket / "run-7/2.json").unlink()
    code, _, err = runevals("merge", "s3://evals/run-7")
    ended(code, 3, err, "of 2 shards, these are missing: 2")


def test_a_broken_document_in_a_bucket_is_named_by_its_address(bucket, runevals):
    (bucket / "broken.json").write_text('{"format_version": 1, ')
    for words in (("merge", "s3://evals/broken.json"), ("--baseline", "s3://evals/broken.json")):
        code, _, err = runevals(*words)
        ended(code, 2, err, "s3://evals/broken.json", without=["/runevals-"])


def test_the_kind_of_an_address_may_be_in_capitals(bucket, runevals):
    code, out, err = runevals("-o", "S3://evals/base.json")
    ended(code, 0, out + err, "Copied to: S3://evals/base.json")
    assert (bucket / "base.json").is_file()
    code, out, err = runevals("--baseline", "S3://evals/base.json")
    ended(code, 0, out + err, "No regression shown")


def test_a_base_in_a_bucket_is_compared_with(project, bucket, runevals):
    assert runevals("-o", "s3://evals/base.json")[0] == 0
    project.write("agent.py", "def answer(prompt):\n    return 'no'\n")
    code, out, err = runevals("--baseline", "s3://evals/base.json")
    ended(code, 1, out + err, "6 of 6 cases regressed")


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("-o", "gs://evals/a.json"), 2, "pip install 'runevals[bucket]' gcsfs"),
        (("-o", "s3://evals/a.json", "-o", "s3://evals/b/a.json"), 2, "two files in buckets have the name a.json"),
        (
            ("--baseline", "s3://evals/none.json"),
            3,
            "cannot read s3://evals/none.json: there is no results document",
        ),
        (("merge", "s3://evals/none"), 3, "cannot read s3://evals/none: there is no results document"),
        (
            ("merge", "part.json", "-o", "s3://evals/a.json"),
            2,
            "only the results of one run can be written to a bucket",
        ),
    ],
)
def test_what_a_bucket_cannot_do_is_said(project, bucket, runevals, words, code, problem):
    found, out, err = runevals(*words)
    ended(found, code, out + err, problem)


def test_results_that_cannot_be_copied_to_a_bucket_stay_here(project, bucket, runevals):
    (bucket / "run-7").write_text("no folder", encoding="utf-8")
    code, out, err = runevals("-o", "s3://evals/run-7/1.json")
    ended(code, 3, out + err, "cannot copy .evals/results/1.json to s3://evals/run-7/1.json")
    assert project.document(".evals/results/1.json")["totals"]["passed"] == 6
