import { types } from "pg";

/**
 * A column of a statement's result: the TypeScript type that pg returns (`T`), and the Postgres types for which it does.
 * `tests/db/row-types.test.ts` has Postgres describe every statement and compares.
 */
export type Column<T> = {
  /** Object ids of the types that pg reads as `T`. */
  readonly typeIds: readonly number[];
  /** Whether its values may be null. `excluded`: the table's column is nullable, but this statement returns no nulls. */
  readonly nulls: "never" | "maybe" | "excluded";
  /** Carries the type `T` only; never set. */
  readonly value?: T;
};

/** The columns of a statement's result by name. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** The type of a row with these columns. */
export type Row<C extends Columns> = {
  [Name in keyof C]: C[Name] extends Column<infer T> ? T : never;
};

function column<T>(...typeIds: number[]): Column<T> {
  return { typeIds, nulls: "never" };
}

// pg's list has no ids of array types.
const textArray = 1009;

/** Text; `text<"live" | "test">()` if a check constraint allows only certain texts. */
export const text = <T extends string = string>() => column<T>(types.builtins.TEXT);
/** A UUID as text. */
export const uuid = () => column<string>(types.builtins.UUID);
/** An exact decimal as text, because a JavaScript number would lose digits. */
export const numeric = () => column<string>(types.builtins.NUMERIC);
/** A 64-bit integer as text, such as `count(*)` and sums of integers. */
export const bigint = () => column<string>(types.builtins.INT8);
/** An integer of 16 or 32 bits. */
export const integer = () => column<number>(types.builtins.INT2, types.builtins.INT4);
/** A floating-point number. Never used for money. */
export const float = () => column<number>(types.builtins.FLOAT8);
/** True or false. */
export const boolean = () => column<boolean>(types.builtins.BOOL);
/** A calendar day, `YYYY-MM-DD`. */
export const date = () => column<string>(types.builtins.DATE);
/** An instant, as a `Date` with milliseconds. */
export const timestamp = () => column<Date>(types.builtins.TIMESTAMPTZ);
/** JSON. `T` is not checked: the caller declares what the JSON contains. */
export const json = <T>() => column<T>(types.builtins.JSONB, types.builtins.JSON);
/** An array of texts. */
export const texts = <T extends string = string>() => column<T[]>(textArray);

/** A column that may be null. */
export function nullable<T>({ typeIds }: Column<T>): Column<T | null> {
  return { typeIds, nulls: "maybe" };
}

/** A column that is nullable in its table, but never null in the rows that this statement returns. */
export function neverNull<T>({ typeIds }: Column<T>): Column<T> {
  return { typeIds, nulls: "excluded" };
}
