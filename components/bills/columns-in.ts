/**
 * The columns of a CSV file by its first line, for a form that offers them. Their names may be quoted; the delimiter is the most
 * frequent of comma, semicolon and tab.
 */
export function columnsIn(text: string): string[] {
  const [head = ""] = text.replace(/^\uFEFF/, "").split(/\r?\n/, 1);
  const delimiter = [",", ";", "\t"].sort((a, b) => head.split(b).length - head.split(a).length)[0] ?? ",";
  const columns: string[] = [];
  let name = "";
  let isQuoted = false;
  for (const letter of head) {
    if (letter === '"') isQuoted = !isQuoted;
    else if (letter === delimiter && !isQuoted) {
      columns.push(name.trim());
      name = "";
    } else name += letter;
  }
  columns.push(name.trim());
  return [...new Set(columns)].filter((column) => column !== "");
}
