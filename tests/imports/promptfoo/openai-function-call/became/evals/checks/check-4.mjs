function check(output, context, expected) {
  const text = typeof output === "string" ? output : JSON.stringify(output) ?? "";
  const has = (part) => text.includes(String(part));
  const hasAnyCase = (part) => text.toLowerCase().includes(String(part).toLowerCase());
  const json = () => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  return typeof expected === "object" ? require("lodash").isEqual(json(), expected) : text === String(expected);
}

function transform(output, context) {
  return output.name
}

function calls(output, toolCalls, first = false) {
  const all = (toolCalls ?? []).map(({ name, input }) => {
    const text = JSON.stringify(input);
    const call = { name, arguments: text };
    return { type: "function", ...call, function: call, functionCall: { name, args: input } };
  });
  if (all.length === 0) return output;
  if (output) return { content: output, tool_calls: all };
  return first ? all[0] : all;
}

export default async function (output, { sample, assertion, toolCalls }) {
  const context = { vars: sample.vars, prompt: "", config: assertion.config ?? {} };
  let value = calls(output, toolCalls, true);
  value = await transform(value, context);
  try {
    value = await check(value, context, assertion.value);
  } catch (error) {
    if (error instanceof ReferenceError || assertion.not) throw error;
    return { pass: false, message: String(error) };
  }
  if (typeof value === "number") return value > 0;
  if (typeof value === "boolean") return value;
  return { pass: value.pass, message: value.reason };
}
