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
  return expected.some(has);
}

function transform(output, context) {
  return JSON.parse(output)
}

function transform1(output, context) {
  return output.countries
}

export default async function (output, { sample, assertion, toolCalls }) {
  const context = { vars: sample.vars, prompt: "", config: assertion.config ?? {} };
  let value = output;
  value = await transform(value, context);
  value = await transform1(value, context);
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
