/** One statement of a SQL file: without its semicolon, with the comments before it. */
export type Statement = {
  text: string;
  /** Line of the file, from 1, on which `text` begins, comments included. */
  firstLine: number;
  /** Line of the statement's first word. */
  line: number;
  /** The statement from its first word on. */
  body: string;
};

// Tokens that may contain semicolons which do not end a statement: comments, strings, names and dollar quotes.
const skipped = [
  /--[^\n]*/y,
  /'[^']*(?:''[^']*)*'/y,
  /"[^"]*(?:""[^"]*)*"/y,
  /\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[\s\S]*?\$\1\$/y,
];
const escapeString = /[eE]'[^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*'/y;
const word = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;

/**
 * Splits an SQL file into its statements, as psql does: semicolons in strings, dollar quotes, comments, parentheses and
 * `begin atomic … end` bodies do not end a statement.
 */
export function splitSql(source: string): Statement[] {
  const statements: Statement[] = [];
  let start = 0;
  let bodyStart: number | undefined;
  let parentheses = 0;
  /** The number of `end`s still expected: for `begin atomic` and for each `case` inside it. */
  let open = 0;
  let previousWord = "";

  const finish = (end: number) => {
    if (bodyStart !== undefined) {
      const textStart = start + (/^\s*/.exec(source.slice(start, end))?.[0].length ?? 0);
      statements.push({
        text: source.slice(textStart, end).trimEnd(),
        firstLine: lineOf(source, textStart),
        line: lineOf(source, bodyStart),
        body: source.slice(bodyStart, end).trimEnd(),
      });
    }
    start = end + 1;
    bodyStart = undefined;
    parentheses = 0;
    open = 0;
    previousWord = "";
  };

  let at = 0;
  while (at < source.length) {
    const character = source.charAt(at);
    const comment = character === "/" ? blockComment(source, at) : 0;
    const blank = comment > 0 || /\s/.test(character) || source.startsWith("--", at);
    if (!blank && character !== ";") bodyStart ??= at;
    const long = comment || matchedLength(escapeString, source, at) || longest(source, at);
    if (long > 0) {
      at += long;
      continue;
    }
    const name = matchedLength(word, source, at);
    if (name > 0) {
      const current = source.slice(at, at + name).toLowerCase();
      if (current === "atomic" && previousWord === "begin") open = 1;
      else if (open > 0 && current === "case") open += 1;
      else if (open > 0 && current === "end") open -= 1;
      previousWord = current;
      at += name;
      continue;
    }
    if (character === "(") parentheses += 1;
    if (character === ")") parentheses -= 1;
    if (character === ";" && parentheses <= 0 && open === 0) finish(at);
    at += 1;
  }
  finish(source.length);
  return statements;
}

function longest(source: string, at: number): number {
  return Math.max(...skipped.map((pattern) => matchedLength(pattern, source, at)));
}

function matchedLength(pattern: RegExp, source: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0].length ?? 0;
}

/**
 * The length of the comment that begins here, or 0. Comments nest in Postgres, which a regular expression cannot
 * match.
 */
function blockComment(source: string, from: number): number {
  if (!source.startsWith("/*", from)) return 0;
  let depth = 0;
  for (let at = from; at < source.length; ) {
    const pair = source.slice(at, at + 2);
    if (pair === "/*") depth += 1;
    if (pair === "*/") depth -= 1;
    at += pair === "/*" || pair === "*/" ? 2 : 1;
    if (depth === 0) return at - from;
  }
  return source.length - from;
}

function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}
