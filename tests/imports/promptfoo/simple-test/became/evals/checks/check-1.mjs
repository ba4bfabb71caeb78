function check(output, context) {
  return output.startsWith('Ahoy')
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
  if (typeof value === "number") return value > 0;
  if (typeof value === "boolean") return value;
  return { pass: value.pass, message: value.reason };
}
