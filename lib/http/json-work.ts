import { ServiceError } from "@/lib/errors";

/** Limits on the size of the value that a JSON text is parsed to. */
export type JsonBudget = {
  /** Members of objects and entries of lists, in all. */
  parts: number;
  /** Members or entries of a single object or list. */
  partsOfOne: number;
  /** The depth of nested lists and objects. */
  depth: number;
};

/** The budget of a body, unless its route declares another one. Lists of the contract have at most 1,000 entries. */
export const defaultJsonBudget: JsonBudget = { parts: 50_000, partsOfOne: 5_000, depth: 100 };

const quote = 34;
const comma = 44;
const backslash = 92;

/**
 * Counts the values of a JSON text without parsing it, because parsing and validating it takes a hundred times as long. The text
 * does not have to be valid.
 * @returns the number of its parts
 * @throws ServiceError payload_too_large if it is beyond the budget
 */
export function countParts(text: string, budget: JsonBudget): number {
  const open: number[] = [];
  let parts = 0;
  let partsHere = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma) {
      parts += 1;
      partsHere += 1;
      if (parts > budget.parts) throw tooMuch(`${budget.parts} values in all`, budget);
      if (partsHere >= budget.partsOfOne)
        throw tooMuch(`${budget.partsOfOne} values in one list or object`, budget);
    } else if (code === 91 || code === 123) {
      parts += 1;
      if (open.push(partsHere) > budget.depth)
        throw tooMuch(`${budget.depth} lists and objects inside each other`, budget);
      partsHere = 0;
    } else if (code === 93 || code === 125) partsHere = open.pop() ?? 0;
  }
  if (parts > budget.parts) throw tooMuch(`${budget.parts} values in all`, budget);
  return parts;
}

/** The index of the quote that ends a string. @param at the index of the quote that begins it */
export function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

function tooMuch(limit: string, { parts, partsOfOne, depth }: JsonBudget): ServiceError {
  return new ServiceError("payload_too_large", `The body may have at most ${limit}. Send less at once.`, {
    limit_values: parts,
    limit_values_in_one: partsOfOne,
    limit_depth: depth,
  });
}
