import type { ReactNode } from "react";

/** Languages the highlighter knows. */
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
 * Colours strings, numbers, keywords and comments: enough for the short examples of a reference, on the server, with
 * nothing for the browser to load. In shell quotes only one's own JSON is coloured within, as a string.
 */
export function highlight(code: string, language: Language): ReactNode[] {
  if (language === "text") return [code];
  const rules = [
    comments[language],
    /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/.source,
    // In a shell a number is a port or a flag's, and means nothing by itself.
    language === "bash" ? undefined : String.raw`(?<![\w.-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w-])`,
    String.raw`(?<![\w.$-])(?:${keywords[language]})(?![\w-])`,
  ];
  const pattern = new RegExp(rules.map((rule) => `(${rule ?? "(?!)"})`).join("|"), "g");
  const styles = [
    "text-muted-foreground",
    "text-(--code-string)",
    "text-(--code-number)",
    "text-(--code-keyword)",
  ];
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    // A JSON string that is a name, not a value, stays in the text's own colour.
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
