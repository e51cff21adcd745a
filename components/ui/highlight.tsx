import type { ReactNode } from "react";

/** Languages that can be highlighted; "text" is left as it is. */
export type Language = "json" | "bash" | "typescript" | "python" | "text" | "dotenv";

const keywords: Record<Language, string> = {
  json: "true|false|null",
  bash: "curl|export",
  typescript: "const|let|await|async|import|from|new|if|throw|return|true|false|null|undefined|function|type",
  python: "import|from|def|return|if|else|for|in|raise|with|as|True|False|None|print",
  dotenv: "export",
  text: "",
};

const comments: Partial<Record<Language, string>> = {
  bash: "(?:^|(?<=\\s))#[^\\n]*",
  dotenv: "(?:^|(?<=\\s))#[^\\n]*",
  typescript: "//[^\\n]*",
  python: "#[^\\n]*",
};

/**
 * Highlights strings, numbers, keywords and comments. It is enough for short examples and runs on the server, so that the
 * browser does not load a highlighter. A quoted part of a shell command is highlighted as one string.
 */
export function highlight(code: string, language: Language): ReactNode[] {
  if (language === "text") return [code];
  const rules = [
    comments[language],
    /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/.source,
    // Numbers in shell commands are mostly ports and option values, which are not highlighted.
    language === "bash" ? undefined : String.raw`(?<![\w.-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w-])`,
    String.raw`(?<![\w.$-])(?:${keywords[language]})(?![\w-])`,
  ];
  const pattern = new RegExp(rules.map((rule) => `(${rule ?? "(?!)"})`).join("|"), "g");
  // Short names, because a page of the reference has hundreds of them (`app/theme.css`).
  const styles = ["code-c", "code-s", "code-n", "code-k"];
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    // The names of JSON fields are not highlighted.
    const isName =
      language === "json" && kind === 1 && /^\s*:/.test(code.slice(match.index + match[0].length));
    if (isName) continue;
    parts.push(code.slice(end, match.index));
    parts.push(
      <span key={match.index} className={styles[kind]}>
        {match[0]}
      </span>,
    );
    end = match.index + match[0].length;
  }
  parts.push(code.slice(end));
  return parts;
}
