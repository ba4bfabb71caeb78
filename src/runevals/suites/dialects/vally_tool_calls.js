// Vally's grader tool-calls: required, disallowed and ordered calls, by patterns for names and arguments.
const matches = (pattern, value) => {
  const [, flags = "", rest] = /^(?:\(\?([ims]+)\))?([^]*)$/.exec(pattern);
  return new RegExp(rest, flags).test(value);
};
const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function fits(wanted, call) {
  const { name, command, path, args } = typeof wanted === "string" ? { name: wanted } : wanted;
  const given = Object.entries({ command, path, ...args }).filter(([, pattern]) => pattern !== undefined);
  return matches(name, call.name) && given.every(([key, pattern]) => {
    const value = call.input?.[key];
    return value !== undefined && matches(pattern, asText(value));
  });
}

export default function (output, { assertion, toolCalls }) {
  if (toolCalls === null) throw new Error("the target does not report its tool calls");
  const shown = (wanted) => asText(wanted);
  for (const wanted of assertion.required ?? []) {
    const calls = toolCalls.filter((call) => fits(wanted, call));
    if (calls.length < (wanted.min_count ?? 1)) return { pass: false, message: `not called: ${shown(wanted)}` };
    if (wanted.final && !calls.includes(toolCalls.at(-1))) {
      return { pass: false, message: `not the last call: ${shown(wanted)}` };
    }
  }
  const forbidden = (assertion.disallowed ?? []).find((wanted) => toolCalls.some((call) => fits(wanted, call)));
  if (forbidden !== undefined) return { pass: false, message: `called: ${shown(forbidden)}` };
  let next = 0;
  const sequence = assertion.sequence ?? [];
  for (const call of toolCalls) next += next < sequence.length && fits(sequence[next], call) ? 1 : 0;
  return next < sequence.length
    ? { pass: false, message: `not called in this order: ${shown(sequence[next])}` }
    : { pass: true, message: "the calls are as they are to be" };
}
