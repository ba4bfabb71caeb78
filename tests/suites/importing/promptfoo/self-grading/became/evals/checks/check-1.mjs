function check(output, context) {
  return Math.max(0, Math.min(1, 1 - (output.length - 100) / 900))
}

export default async function (output, { sample }) {
  const value = await check(output, { vars: sample.vars });
  if (typeof value === "number") return value > 0;
  if (typeof value === "boolean") return value;
  return { pass: value.pass, message: value.reason };
}
