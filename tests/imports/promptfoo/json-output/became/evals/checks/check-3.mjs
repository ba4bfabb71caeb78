function check(output, context) {
  return output.color === 'purple' && output.countries.includes('Brazil')
}

function transform(output, context) {
  return JSON.parse(output)
}

export default async function (output, { sample, assertion, toolCalls }) {
  const context = { vars: sample.vars, prompt: "", config: assertion.config ?? {} };
  let value = output;
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
