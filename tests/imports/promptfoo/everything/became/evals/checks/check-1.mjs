function check(output, context) {
  const words = output.split(" ");
  return words.length / context.vars.limit;
}

export default async function (output, { sample, assertion, toolCalls }) {
  const context = { vars: sample.vars, prompt: "", config: assertion.config ?? {} };
  let value = output;
  try {
    value = await check(value, context, assertion.value);
  } catch (error) {
    if (error instanceof ReferenceError || assertion.not) throw error;
    return { pass: false, message: String(error) };
  }
  if (typeof value === "number") return value >= 0.5;
  if (typeof value === "boolean") return value;
  return { pass: value.pass, message: value.reason };
}
