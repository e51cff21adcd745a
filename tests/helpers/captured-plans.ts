import { Client } from "pg";
import { database } from "@/lib/db/pool";
import type { TestDatabase } from "./database";

type Node = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Loops"?: number;
  "Actual Rows"?: number;
  "Rows Removed by Filter"?: number;
  Plans?: Node[];
};

/** A statement that ran, and what it read: each scan of a table that was executed, with the rows that it looked at. */
export type CapturedPlan = { statement: string; scans: { type: string; table: string; rows: number }[] };

/**
 * Has Postgres send the plan of every statement to the connection that ran it, nested statements of functions included, and
 * collects those of this process's read connections. For databases of tests: takes a superuser.
 * @returns a function that runs something and returns the plans of its statements
 */
export async function capturePlans({ superuserUrl }: TestDatabase) {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  const { rows } = await client.query("select current_database() as name");
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
  };
  await client.query("load 'auto_explain'");
  for (const [name, value] of Object.entries(settings)) {
    await client.query(`alter database ${rows[0].name} set ${name} = '${value}'`);
  }
  await client.end();
  let captured: CapturedPlan[] = [];
  database("reading").on("connect", (connection) => {
    connection.on("notice", ({ message = "" }) => {
      const json = /plan:\n(\{[\s\S]*\})$/.exec(message)?.[1];
      if (json === undefined) return;
      const { "Query Text": statement, Plan } = JSON.parse(json);
      captured.push({ statement, scans: scansOf(Plan) });
    });
  });
  return async (run: () => Promise<unknown>): Promise<CapturedPlan[]> => {
    captured = [];
    await run();
    return captured;
  };
}

/** The scans that were executed; a partition that was pruned while the statement ran was not. */
function scansOf(node: Node): CapturedPlan["scans"] {
  const table = node["Relation Name"];
  const loops = node["Actual Loops"] ?? 0;
  const rows = loops * ((node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0));
  const own = table !== undefined && loops > 0 ? [{ type: node["Node Type"], table, rows }] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}
