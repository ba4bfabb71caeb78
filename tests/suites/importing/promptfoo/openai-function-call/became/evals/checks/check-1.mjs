function check(output, context) {
  return output.name === 'get_current_weather'
}

export default async function (output, { sample }) {
  const value = await check(output, { vars: sample.vars });
  if (typeof value === "number") return value > 0;
  if (typeof value === "boolean") return value;
  return { pass: value.pass, message: value.reason };
}
