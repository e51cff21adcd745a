import { constants, setPriority } from "node:os";
import { answerParquet } from "@/lib/bills/parquet/read-parquet";

// Reads one Parquet file in a process of its own; `lib/bills/parquet/read-apart.ts` starts it. Where cores are few, requests come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

process.once("message", async (bytes: Uint8Array) => process.send?.(await answerParquet(bytes)));
