"""What a kind of target can do with a case, and which evidence it reports."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct


class Traits(Struct, frozen=True, kw_only=True):
    """What all targets of a kind have in common; nothing is assumed."""

    takes_cwd: bool = False  # the folder that a case names
    takes_files: bool = False  # the files of a case
    works_in_folders: bool = False  # it always has a folder of its own, and leaves changes in it
    plays_workspaces: bool = False  # it can say what an attempt left in its folder
    reports_skills: bool = True  # which skill was loaded
    answers_tool_calls: bool = False  # its tool calls can be answered by mocks
    runs_skills: bool = False  # it can answer the cases for skills
    is_paid: bool = False  # a call costs money
    is_program: bool = False  # of the user, and may be in Python
    bounds_itself: bool = False  # it keeps to its number of calls at once
    sends_only_prompts: bool = False  # nothing else of a case reaches what answers
    stays_here: bool = False  # no node of a cluster can run it
    brings_skills: bool = False  # which are called in the sandbox
    needs_files: bool = False  # of the repository, on each node of a cluster
    takes_model: bool = True  # another model would answer otherwise
    is_steady: bool = False  # equal prompts get equal answers, unless the settings say otherwise


UNKNOWN = Traits(takes_cwd=True, takes_files=True)  # there is no target yet: nothing is refused


def common(several: Collection[Traits]) -> Traits:
    """What every one of them has."""
    return Traits(**{name: all(getattr(one, name) for one in several) for name in Traits.__struct_fields__})
