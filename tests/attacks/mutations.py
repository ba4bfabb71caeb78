"""What SECURITY.md promises: the guard of each promise, the code without it, and the test that then fails.

`benchmarks/mutate_promises.py` takes out one guard after the other; `tests/docs/test_promises.py` compares the two
tables, and finds every guard and test.
"""

from __future__ import annotations

from typing import NamedTuple


class Promise(NamedTuple):
    """One row of SECURITY.md. `guard` occurs once in `module`, and `without` is put in its place."""

    says: str
    test: str  # below tests/
    module: str  # from the root
    guard: str
    without: str


PROMISES = (
    # Rules of the base
    Promise(
        "The base's gates, limits, filters, judge and quarantine list decide",
        "attacks/test_base_rules.py::test_a_base_without_settings_lets_no_change_bring_its_own",
        "src/runevals/settings/protected.py",
        'return name in PROTECTED and (name != "judge" or judged)',
        "return False",
    ),
    Promise(
        "Stricter budgets and redaction apply",
        "attacks/test_base_rules.py::test_what_a_change_adds_to_redaction_is_obeyed_at_once_and_hides_no_loss",
        "src/runevals/settings/protected.py",
        "if _is_stricter(name, file.values, base_side.values):",
        "if False:",
    ),
    Promise(
        "A change cannot hide its cost behind prices of its own",
        "attacks/test_limits.py::test_prices_that_a_change_names_do_not_count",
        "src/runevals/settings/protected.py",
        "values = file.values if base_side is None else base_side.values",
        "values = file.values",
    ),
    Promise(
        "It plans at most 1,000 calls or three times its base's",
        "attacks/test_limits.py::test_a_change_that_plans_many_calls_is_not_asked",
        "src/runevals/run/call_limit.py",
        "if most is not None and calls > most:",
        "if False:",
    ),
    Promise(
        "What a change removes or weakens is listed",
        "attacks/test_base_rules.py::test_a_gate_on_weakening_blocks_it",
        "src/runevals/verdict/weakenings.py",
        "for message in _of_pair(pair):",
        "for message in ():",
    ),
    Promise(
        "A target of another type is not compared",
        "attacks/test_base_rules.py::test_a_recording_of_the_right_answers_is_not_compared",
        "src/runevals/verdict/sides.py",
        "        if self.other_target:",
        "        if False:",
    ),
    Promise(
        "A change cannot commit its own results",
        "cli/test_gate.py::test_a_change_cannot_bring_its_own_results",
        "src/runevals/run/tool_results.py",
        "if _has_committed(path, settings.repository):",
        "if False:",
    ),
    Promise(
        "The base's stored result never comes from a fork",
        "github/test_job.py::test_a_fork_whose_branch_is_called_main_is_no_base",
        "src/runevals/github/stored.py",
        'return ours and run["event"] in TRUSTED',
        'return run["event"] in TRUSTED',
    ),
    Promise(
        "A project that a change removes does not pass",
        "cli/test_run_projects.py::test_a_project_that_the_change_removes_is_no_pass",
        "src/runevals/run/project_folders.py",
        "for name in sorted({*here, *before})",
        "for name in sorted(here)",
    ),
    Promise(
        "`changed_only` reuses no result if it cannot follow a link",
        "attacks/test_changed_only.py::test_links_that_lead_round_in_a_circle_are_run_in_full_at_once",
        "src/runevals/repository/trees.py",
        'raise CannotFollow(f"the link {link} leads to its own parent folder")',
        "pass",
    ),
    Promise(
        "A loss is accepted only by a reviewer without a part in it",
        "github/test_approval.py::test_an_approval_that_proves_nothing_is_refused",
        "src/runevals/github/approval.py",
        'if user["id"] in involved:',
        "if False:",
    ),
    Promise(
        "A job with secrets runs no stranger's commit",
        "attacks/test_events.py::test_a_strangers_commit_is_refused_beside_secrets",
        "src/runevals/github/events.py",
        "not (unknown or runs_a_strangers_code(event))",
        "not unknown",
    ),
    Promise(
        "A manual run of an unmerged branch is guarded too",
        "attacks/test_events.py::test_a_run_by_hand_of_another_branch_is_guarded_by_its_merge_base",
        "src/runevals/github/events.py",
        "return is_change(event) or is_elsewhere(event) or runs_a_strangers_code(event)",
        "return is_change(event) or runs_a_strangers_code(event)",
    ),
    Promise(
        "`blame` and `ablate` do not run in a job of a change",
        "cli/test_blame.py::test_bad_input_says_what_to_do",
        "src/runevals/cli/blame.py",
        "if elsewhere or change_event(words).untrusted:",
        "if elsewhere:",
    ),
    Promise(
        "The image is pinned by digest, other actions by commit",
        "test_action_yml.py::test_what_they_use_is_pinned_and_no_tag",
        "container/action.yml",
        "docker://ghcr.io/runevals/runevals@sha256:",
        "docker://ghcr.io/runevals/runevals:v0 # ",
    ),
    # Keys
    Promise(
        "A key goes only where the base or the workflow sends it",
        "settings/test_capabilities.py::test_a_key_goes_only_where_the_base_sends_it",
        "src/runevals/targets/reach.py",
        "            and is_at(self.place, one.place)\n",
        "",
    ),
    Promise(
        "An agent with a key gets no new tool or option",
        "attacks/test_capabilities.py::test_an_agent_with_a_key_gets_nothing_new",
        "src/runevals/settings/capabilities.py",
        "if not bare and not reach.is_in(granted):",
        "if False:",
    ),
    Promise(
        "Every setting of every target has such a rule",
        "settings/test_capabilities.py::test_no_value_of_a_change_leads_further",
        "src/runevals/targets/agents/settings.py",
        "        args=_with_key(_options),\n",
        "",
    ),
    Promise(
        "Tenants of one gateway are different places",
        "attacks/test_settings_paths.py::test_a_change_leads_the_key_to_no_other_tenant",
        "src/runevals/models/http/origin.py",
        "return path == root or (bool(root) and below != path and _PLAIN_PATH.fullmatch(below) is not None)",
        "return True",
    ),
    Promise(
        "A program of a change gets only variables that the base names",
        "attacks/test_capabilities.py::test_a_program_of_a_change_is_given_what_the_base_or_the_workflow_names",
        "src/runevals/targets/environment.py",
        "if (names is None or name in names or _is_harmless(name))",
        "if True",
    ),
    Promise(
        "No program gets a job's token, by any name",
        "attacks/test_capabilities.py::test_no_program_has_a_token_of_the_job_by_any_name",
        "src/runevals/targets/environment.py",
        "and not is_token(value, tokens)",
        "",
    ),
    Promise(
        "No target or judge can name such a token as its key",
        "settings/test_target.py::test_no_target_or_judge_gets_a_token_of_the_job",
        "src/runevals/settings/capabilities.py",
        "if name in JOB_TOKENS or name.startswith(_THE_JOBS):",
        "if False:",
    ),
    Promise(
        "CI is recognised without the variable `CI`",
        "lib/test_ci.py::test_each_variable_of_a_ci_system_is_enough",
        "src/runevals/lib/ci.py",
        "return any(map(environment.get, MARKS))",
        'return bool(environment.get("CI"))',
    ),
    Promise(
        "On a laptop, settings of others need a yes first",
        "run/test_trust.py::test_lines_of_a_fetched_commit_lead_no_key_away_without_a_terminal",
        "src/runevals/run/trust.py",
        "if repository is None:",
        "if True:",
    ),
    Promise(
        "A dotenv file that git tracks sets no address or proxy",
        "run/test_trust.py::test_a_tracked_dotenv_file_leads_no_key_to_its_address",
        "src/runevals/settings/dotenv.py",
        "return {name: value for name, value in values.items() if name not in settings}",
        "return values",
    ),
    Promise(
        "Servers in `.mcp.json` see only variables that it names",
        "attacks/test_settings_paths.py::test_an_mcp_server_sees_the_variables_that_it_is_told_of",
        "src/runevals/suites/urls/mcp_environment.py",
        'if name.upper() in NEEDED or name.startswith("LC_")',
        "",
    ),
    Promise(
        "MCP servers under test get no key",
        "targets/test_mcp_tools.py::"
        "test_the_model_calls_real_servers_after_the_mocks_and_they_get_no_secret_of_the_job",
        "src/runevals/targets/openai.py",
        "plain_env = {**bare(environment), **home}",
        "plain_env = {**environment, **home}",
    ),
    Promise(
        "An agent has its own HOME, key and named variables only",
        "targets/agents/test_target.py::test_it_has_a_home_of_its_own_its_key_and_what_env_names",
        "src/runevals/targets/agents/target.py",
        "return {**bare(environment), **",
        "return {**environment, **",
    ),
    Promise(
        "Options of its settings do not override ours",
        "targets/agents/test_settings.py::test_what_cannot_be_is_a_usage_error",
        "src/runevals/targets/agents/settings.py",
        'if option.name == "--" or any(_is(option, ours) for ours in AGENTS[kind].our_options):',
        "if False:",
    ),
    Promise(
        "No file with a secret is sent to a Ray cluster",
        "attacks/test_ray_parcel.py::test_a_file_with_a_secret_is_sent_nowhere",
        "src/runevals/run/cluster/repository_archive.py",
        "if secret is not None:",
        "if False:",
    ),
    # Files and programs
    Promise(
        "Files that settings name are in the repository, not in `.git`",
        "attacks/test_settings_paths.py::test_a_file_of_git_or_of_the_machine_is_no_prompt",
        "src/runevals/lib/parsing/source.py",
        "if not path.is_relative_to(root.resolve()):",
        "if False:",
    ),
    Promise(
        "The settings file does not link out of it",
        "attacks/test_settings_paths.py::test_the_settings_file_is_no_link_out_of_the_repository",
        "src/runevals/settings/file.py",
        "if outside and Path(os.path.normpath(path)).is_relative_to(repository):",
        "if False:",
    ),
    Promise(
        "Nothing is written or deleted through a link",
        "attacks/test_links.py::test_a_run_refuses_a_link_in_place_of_a_folder_of_ours",
        "src/runevals/lib/storage/files.py",
        "return os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)",
        "return os.open(name, _FOLDER, dir_fd=folder)",
    ),
    Promise(
        "The action's `output_dir` holds our files only",
        "attacks/test_output_dir.py::test_a_stray_file_or_folder_is_refused",
        "src/runevals/lib/storage/files.py",
        "if names_ not in names or not _is_file(name, inside):",
        "if False:",
    ),
    Promise(
        "A repository among the files of a change is not used",
        "attacks/test_git.py::test_a_git_of_its_own_in_the_folder_we_work_in_is_refused",
        "src/runevals/repository/git.py",
        "if (entries and not submodule) or (git_dir.is_relative_to(outer) and _entries_below(outer, git_dir)):",
        "if False:",
    ),
    Promise(
        "git runs without hooks and replaced objects",
        "attacks/test_git.py::test_hooks_and_replaced_objects_and_grafts_are_passed_over",
        "src/runevals/repository/git.py",
        '    "--no-replace-objects",\n',
        "",
    ),
    Promise(
        "git sees no secret of the job",
        "attacks/test_git.py::test_a_program_that_git_does_run_sees_no_secret",
        "src/runevals/repository/git.py",
        "if (name.upper() in _VARIABLES or name.upper().startswith(_FAMILIES))",
        "if True",
    ),
    Promise(
        "Graders reach no system call that they do not need",
        "attacks/test_graders.py::test_every_other_system_call_is_refused",
        "src/runevals/sandbox/lock.py",
        'return b"".join([*lines, instruction(_RETURN, _REFUSE)])',
        'return b"".join([*lines, instruction(_RETURN, _ALLOW)])',
    ),
    Promise(
        "Addresses in a suite lead to public hosts only",
        "attacks/test_addresses.py::test_no_form_of_a_private_host_is_asked",
        "src/runevals/models/http/public_address.py",
        "return _is_ordinary(address) and not any(address in network for network in _SPECIAL_4)",
        "return True",
    ),
    Promise(
        "Processes that programs leave running end with the run",
        "attacks/test_daemons.py::test_a_daemon_ends_with_the_run_and_rewrites_no_result",
        "src/runevals/programs/processes.py",
        "        if not _state.users:\n            end_all()\n",
        "",
    ),
    Promise(
        "No link of a fixture leads out of its workspace",
        "repository/test_fresh_copy.py::test_a_link_that_leads_out_is_refused",
        "src/runevals/repository/fresh_copy.py",
        "    require_inside(links)\n    for path",
        "    for path",
    ),
    Promise(
        "`setup` and `program` get no key",
        "run/workspaces/test_folders.py::test_setup_is_not_given_the_keys_of_the_job",
        "src/runevals/run/workspaces/folders.py",
        "self._environment = bare(environment)",
        "self._environment = dict(environment)",
    ),
    Promise(
        "An agent leaves nothing that a `program` check runs",
        "attacks/test_workspaces.py::test_an_agent_cannot_decide_from_its_home",
        "src/runevals/run/workspaces/folders.py",
        "place = own or root",
        "place, own = root, None",
    ),
    Promise(
        "A change brings no program or fixture that decides over it",
        "attacks/test_workspaces.py::test_a_change_cannot_bring_what_decides",
        "src/runevals/run/sides.py",
        "replace(request, settings=borrowed, suites=suites,",
        "replace(request, settings=borrowed, suites=request.suites,",
    ),
    Promise(
        "In the action's container, programs are another user",
        "programs/test_processes.py::test_a_program_runs_as_the_owner_without_its_groups",
        "src/runevals/programs/processes.py",
        "    with _acting_as(_state.account):\n",
        "    with _acting_as(None):\n",
    ),
    Promise(
        "Traces are received only with a current token",
        "programs/test_otlp_receiver.py::test_without_the_token_of_a_recording_in_progress_nothing_is_taken",
        "src/runevals/programs/otlp_receiver.py",
        'recording = self.server.recordings.get(self.headers.get(TOKEN_HEADER, ""))',
        "recording = next(iter(self.server.recordings.values()), None)",
    ),
    Promise(
        "The checkout adds no plugin",
        "system/test_plugins.py::test_a_checkout_brings_no_plugin_along",
        "src/runevals/lib/plugins.py",
        "if own or not path.is_relative_to(checkout):",
        "if True:",
    ),
    # Input and judge
    Promise(
        "XML with a document type is refused",
        "lib/parsing/test_xml.py::test_what_is_not_plain_xml_is_refused",
        "src/runevals/lib/parsing/xml.py",
        "self.parser.StartDoctypeDeclHandler = self._refuse",
        "pass",
    ),
    Promise(
        "Artifacts with odd entries are refused, never extracted",
        "github/test_archive.py::test_an_odd_archive_is_refused_whole",
        "src/runevals/github/archive.py",
        'raise UnsafeArchive("an entry\'s name leads out of it")',
        "pass",
    ),
    Promise(
        "An artifact is what was uploaded (digest)",
        "github/test_archive.py::test_other_bytes_than_were_uploaded_are_refused",
        "src/runevals/github/archive.py",
        'if kind != "sha256" or hashlib.sha256(archive).hexdigest() != expected.lower():',
        "if False:",
    ),
    Promise(
        "What an MCP server sends has limits",
        "programs/test_mcp_stdio.py::test_what_a_server_writes_is_kept_within_limits",
        "src/runevals/programs/mcp_stdio.py",
        "if len(line) > MOST_BYTES:",
        "if False:",
    ),
    Promise(
        "Patterns of `redact` that do not end are given up",
        "run/redaction/test_patterns.py::"
        "test_patterns_that_come_to_no_end_again_and_again_are_given_up_and_no_text_stays",
        "src/runevals/run/redaction/patterns.py",
        "_spent_s[self._patterns] += limit_s",
        "pass",
    ),
    Promise(
        "Input that would take hours is refused",
        "attacks/test_limits.py::test_what_would_take_hours_or_crash_ends_with_its_place",
        "src/runevals/suites/dialects/assertions.py",
        "if count > MOST_COMBINED:",
        "if False:",
    ),
    Promise(
        "A results document that contradicts itself is refused",
        "attacks/test_documents.py::test_a_document_whose_statuses_contradict_its_checks_is_refused",
        "src/runevals/reports/results_document.py",
        "if why := contradiction(case, of_tool=run.of_tool):",
        "if why := None:",
    ),
    Promise(
        "A judge's reply counts only with the call's nonce",
        "attacks/test_judge.py::test_a_made_up_marker_earns_nothing",
        "src/runevals/judge/model.py",
        'if candidate.get("nonce") == nonce',
        "",
    ),
    Promise(
        "An answer cannot end a simulated user's conversation",
        "attacks/test_judge.py::test_an_answer_cannot_end_the_conversation_of_a_simulated_user",
        "src/runevals/judge/model.py",
        'if candidate.get("nonce") == nonce',
        "",
    ),
    Promise(
        "A cached judgement counts only with its signature",
        "attacks/test_judge.py::test_a_judgement_that_was_changed_in_the_cache_is_not_believed",
        "src/runevals/lib/storage/cache.py",
        "if entry is None or not hmac.compare_digest(\n"
        "            entry[:64].encode(), self._signature(key, entry[64:]).encode()\n"
        "        ):",
        "if entry is None:",
    ),
    # Output
    Promise(
        "Secrets are replaced in all output, in any usual encoding",
        "attacks/test_secrets.py::test_a_secret_in_any_form_is_replaced",
        "src/runevals/lib/text/secrets.py",
        "plain = encoded.removed_from(plain)",
        "pass",
    ),
    Promise(
        "What looks like a secret is one, whatever its name",
        "lib/text/test_secret_variables.py::test_what_looks_like_a_secret_is_one_whatever_its_name",
        "src/runevals/lib/text/secret_variables.py",
        "yield from ((part, False) for part in parts if looks_secret(part))",
        "yield from ()",
    ),
    Promise(
        "Imported logs are written without keys",
        "imports/logs/test_cases.py::test_secrets_and_patterns_are_removed_and_near_duplicates_folded",
        "src/runevals/cli/import_.py",
        "conversations = without_either(log.conversations, settings)",
        "conversations = log.conversations",
    ),
    Promise(
        "No text runs a command of the CI system's log",
        "attacks/test_printed.py::test_a_document_full_of_commands_is_read_or_refused_as_text",
        "src/runevals/lib/text/escape.py",
        'return _LOG_COMMAND.sub("## ", _WORKFLOW_COMMAND.sub(r"\\1: ", text))',
        "return text",
    ),
    Promise(
        "No text of a suite, model or branch is live in Markdown",
        "system/test_markdown.py::test_nothing_is_live",
        "src/runevals/lib/text/escape.py",
        'else _WWW.sub("&#46;", _LIVE.sub(_reference, plain))',
        "else plain",
    ),
    Promise(
        "No text ends a script of the report page",
        "attacks/test_reports.py::test_the_page_has_the_same_elements",
        "src/runevals/reports/html.py",
        'return text.replace("<", "\\\\u003c").replace(">", "\\\\u003e").replace("&", "\\\\u0026")',
        "return text",
    ),
    Promise(
        "No cell of a CSV file begins a formula",
        "attacks/test_printed.py::test_no_cell_and_no_row_of_a_table_begins_with_a_formula",
        "src/runevals/lib/text/escape.py",
        'quote = "\'" if escaped_.startswith(_FORMULA) else ""',
        'quote = ""',
    ),
    Promise(
        "A fork's comment has no sentence of the fork's document",
        "attacks/test_fork_comment.py::test_a_key_that_is_a_sentence_is_not_shown",
        "src/runevals/reports/unverified_comment.py",
        'return code_cell(case.key) if _PLAIN_KEY.fullmatch(case.key) else f"number {place}"',
        "return code_cell(case.key)",
    ),
    Promise(
        "No comment or issue of another author is changed",
        "github/test_comments.py::test_a_forged_one_alone_is_left_alone",
        "src/runevals/github/comments.py",
        "if self._author.wrote(comment)]",
        "]",
    ),
)
