/** Which part of the ledger is asked about. The caller's policies still decide how much of it they may see. */
export type LedgerScope = { workspaceId: string; environment: "live" | "test" };
