/*
 * Words that distinguish models of one family. If one of two names has such a word and the other does not, they are different models
 * with different prices.
 */
const distinguishingWords = new Set(
  (
    "mini nano micro lite flash pro max ultra turbo small medium large tiny plus premier haiku sonnet opus fable fast " +
    "coder code codex vision vl audio realtime tts transcribe diarize image embed embedding search thinking think " +
    "reasoner reasoning non guard safeguard distill highspeed air airx flashx x multi agent omni deep research lightning exp live native " +
    "scout maverick sol terra luna astra cyber astral"
  ).split(" "),
);

/** Parts of names that do not distinguish models: a date, Bedrock's first version, or an alias of the newest version. */
const stamps = /20\d{2}-?\d{2}-?\d{2}|-\d{2}-\d{2}$|-\d{2}-20\d{2}$|-v1(?::\d+)?$|:\d+$|-latest$/g;

/** The distinguishing parts of a name: its numbers and the words above, in alphabetical order. */
function features(name: string): string {
  const words =
    name
      .toLowerCase()
      .replace(stamps, "")
      .match(/[a-z]+|\d+/g) ?? [];
  return words
    .filter((word) => /^\d/.test(word) || distinguishingWords.has(word))
    .sort()
    .join(" ");
}

/**
 * Whether two names can belong to one model: they have the same versions, sizes and variants; dates are ignored. Guards against broad
 * patterns of the catalogue, which find `claude-sonnet-5` for `claude-sonnet-5-5`.
 */
export function canBeSameModel(a: string, b: string): boolean {
  return features(a) === features(b);
}
