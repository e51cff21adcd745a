import type { Scalar } from "./entry";

/** An attribute with a value of one of the types that are read: no lists, no bytes. */
export type Attribute = readonly [key: string, value: Scalar];

/** A span or a log record as it was sent, without what is not read. Ids are lower-case hex, "" where there is none. */
export type RawRecord = {
  name: string;
  trace: string;
  span: string;
  parent: string;
  /** When it ended or happened, and what to use where that is 0: nanoseconds since 1970. */
  timeNs: bigint;
  otherTimeNs: bigint;
  attributes: Attribute[];
};

/** The records of one resource and one scope. */
export type RawScope = { resource: Attribute[]; scope: string; records: RawRecord[] };

/** The signals whose records have attributes of which few are read. */
export type RecordSignal = "traces" | "logs";

/** Whether an attribute of this name is read. */
export type IsRead = (key: string) => boolean;
