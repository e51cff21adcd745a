import { types } from "pg";

/**
 * A column of a statement's result: what pg makes of it in TypeScript (`T`), and which types of Postgres that is true
 * of. `tests/db/row-types.test.ts` has Postgres describe every statement and compares.
 */
export type Column<T> = {
  /** Object ids of the types that pg reads as `T`. */
  readonly typeIds: readonly number[];
  /** Whether its values may be null. `excluded`: the table allows it, the statement does not. */
  readonly nulls: "never" | "maybe" | "excluded";
  /** Carries `T`; never set. */
  readonly value?: T;
};

/** The columns of a statement's result by name. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** A row with these columns. */
export type Row<C extends Columns> = {
  [Name in keyof C]: C[Name] extends Column<infer T> ? T : never;
};

function column<T>(...typeIds: number[]): Column<T> {
  return { typeIds, nulls: "never" };
}

// The ids of array types are missing from pg's list.
const textArray = 1009;

/** Text; `text<"live" | "test">()` where a check constraint allows some texts only. */
export const text = <T extends string = string>() => column<T>(types.builtins.TEXT);
export const uuid = () => column<string>(types.builtins.UUID);
/** Exact decimal as text: JavaScript's numbers would lose digits. */
export const numeric = () => column<string>(types.builtins.NUMERIC);
/** A 64-bit integer as text, as `count(*)` and sums of integers are. */
export const bigint = () => column<string>(types.builtins.INT8);
export const integer = () => column<number>(types.builtins.INT2, types.builtins.INT4);
export const float = () => column<number>(types.builtins.FLOAT8);
export const boolean = () => column<boolean>(types.builtins.BOOL);
/** A calendar day, `YYYY-MM-DD`. */
export const date = () => column<string>(types.builtins.DATE);
export const timestamp = () => column<Date>(types.builtins.TIMESTAMPTZ);
/** JSON. What is inside is the word of whoever declares it: Postgres knows nothing of it. */
export const json = <T>() => column<T>(types.builtins.JSONB, types.builtins.JSON);
export const texts = <T extends string = string>() => column<T[]>(textArray);

/** A column that may be null. */
export function nullable<T>({ typeIds }: Column<T>): Column<T | null> {
  return { typeIds, nulls: "maybe" };
}

/** A column that may be null in its table, but not in the rows that the statement is about. */
export function neverNull<T>({ typeIds }: Column<T>): Column<T> {
  return { typeIds, nulls: "excluded" };
}
