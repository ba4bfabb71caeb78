// Every finding ends with what to do instead: a second sentence.
export default function (output) {
  const without = output.split("\n").filter((line) => !/\. \w/.test(line));
  return { pass: without.length === 0, message: `without advice: ${without.join("; ") || "none"}` };
}
