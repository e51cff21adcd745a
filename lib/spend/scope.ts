/** The part of the ledger to read. The caller's policies still limit what is visible. */
export type LedgerScope = { workspaceId: string; environment: "live" | "test" };
