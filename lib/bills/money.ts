import { type Decimal, parseDecimal, roundMoney, shiftDecimal } from "@/lib/decimal";

declare const unit: unique symbol;

/** An amount in US dollars, as everything beyond this file has it. */
export type Dollars = Decimal & { readonly [unit]: "dollars" };

/** An amount in US cents, which may have decimals. It is no amount of dollars: only `dollarsOf` makes one of it. */
export type Cents = { readonly [unit]: "cents"; readonly amount: Decimal };

/** What amounts are written in, in a file or in an answer of a provider. */
export type MoneyUnit = "dollars" | "cents";

/**
 * Dollars as they are written: decimal text, or a JSON number as its text or as a number of JavaScript, which is read by its shortest
 * text. Rounded half-even to 18 decimals.
 * @throws DecimalError
 */
export const dollars = (written: string | number | bigint): Dollars =>
  roundMoney(parseDecimal(written)) as Dollars;

/** Cents as they are written, whole or with decimals. @throws DecimalError */
export const cents = (written: string | number | bigint): Cents =>
  ({ amount: parseDecimal(written) }) as Cents;

/** Rounded half-even to 18 decimals of a dollar. */
export const dollarsOf = ({ amount }: Cents): Dollars => roundMoney(shiftDecimal(amount, -2)) as Dollars;

/** An amount that is written in a unit, in dollars. @throws DecimalError */
export const dollarsWritten = (written: string | number | bigint, as: MoneyUnit): Dollars =>
  as === "cents" ? dollarsOf(cents(written)) : dollars(written);
