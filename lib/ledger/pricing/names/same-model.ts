/*
 * Words that tell models of one family apart. A match that adds or drops one of them has found another model, with another
 * price.
 */
const tellingWords = new Set(
  (
    "mini nano micro lite flash pro max ultra turbo small medium large tiny plus premier haiku sonnet opus fable fast " +
    "coder code codex vision vl audio realtime tts transcribe diarize image embed embedding search thinking think " +
    "reasoner reasoning non guard safeguard distill highspeed air airx flashx x multi agent omni deep research lightning exp live native " +
    "scout maverick sol terra luna astra cyber astral"
  ).split(" "),
);

/** A date, Bedrock's first version of a model, or a mark of the newest version: they do not name another model. */
const stamps = /20\d{2}-?\d{2}-?\d{2}|-\d{2}-\d{2}$|-\d{2}-20\d{2}$|-v1(?::\d+)?$|:\d+$|-latest$/g;

/** What tells a model apart by its name: its numbers and its telling words, in alphabetical order. */
function features(name: string): string {
  const words =
    name
      .toLowerCase()
      .replace(stamps, "")
      .match(/[a-z]+|\d+/g) ?? [];
  return words
    .filter((word) => /^\d/.test(word) || tellingWords.has(word))
    .sort()
    .join(" ");
}

/**
 * Whether two names can be of one model: same versions, sizes and variants. Dates do not count. It guards against the
 * catalogue's broad patterns, which find `claude-sonnet-5` for `claude-sonnet-5-5`.
 */
export function canBeSameModel(a: string, b: string): boolean {
  return features(a) === features(b);
}
