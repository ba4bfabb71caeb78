function check(output, context) {
  const words = output.split(" ");
  return words.length / context.vars.limit;
}

export default async function (output, { sample }) {
  const value = await check(output, { vars: sample.vars });
  if (typeof value === "number") return value >= 0.5;
  if (typeof value === "boolean") return value;
  return { pass: value.pass, message: value.reason };
}
