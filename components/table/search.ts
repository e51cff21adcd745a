import { searchedText, type TableColumn } from "./column";

/** A text without accents and case, as it is searched: "Zoë" as "zoe". */
export function foldText(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * The rows whose cells contain every word of a search, in any order and in any of the columns.
 * @param columns the shown columns
 */
export function searchRows<Row>(rows: Row[], columns: TableColumn<Row>[], typed: string): Row[] {
  const words = foldText(typed).split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = foldText(columns.map((column) => searchedText(column, row)).join("\n"));
    return words.every((word) => text.includes(word));
  });
}
