// Which words differ between two texts: the longest common subsequence, where they differ at all.

const WORDS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
const LINES = /[^\n]*\n|[^\n]+$/g;
const MOST_CELLS = 4_000_000;

/** [[text, changed], …] for each of the two texts; by word, by line where they are long, else in one piece. */
function differences(before, after) {
  for (const pattern of [WORDS, LINES]) {
    const found = differing(before.match(pattern) ?? [], after.match(pattern) ?? []);
    if (found) return found;
  }
  return [[[before, true]], [[after, true]]];
}

function differing(before, after) {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const old = before.slice(start, before.length - end);
  const fresh = after.slice(start, after.length - end);
  if ((old.length + 1) * (fresh.length + 1) > MOST_CELLS) return null;
  const [kept, keptFresh] = common(old, fresh);
  const whole = (words, inner) =>
    pieces(words, (i) => i < start || i >= words.length - end || inner.has(i - start));
  return [whole(before, kept), whole(after, keptFresh)];
}

/** The places, on each side, of the words that both have in the same order. */
function common(old, fresh) {
  const width = fresh.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === fresh[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
  const kept = [new Set(), new Set()];
  for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
    if (old[i] === fresh[j]) {
      kept[0].add(i++);
      kept[1].add(j++);
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++;
    else j++;
  }
  return kept;
}

/** Neighbours that are alike become one piece; a blank between two changed words is changed with them. */
function pieces(words, same) {
  const out = [];
  for (let i = 0; i < words.length; i++) {
    const bridging = /^\s+$/.test(words[i]) && i > 0 && i + 1 < words.length && !same(i - 1) && !same(i + 1);
    const changed = bridging || !same(i);
    if (out.length && out[out.length - 1][1] === changed) out[out.length - 1][0] += words[i];
    else out.push([words[i], changed]);
  }
  return out;
}
