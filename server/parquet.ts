import { constants, setPriority } from "node:os";
import { answerParquet, type ParquetQuestion } from "@/lib/bills/parquet/read-parquet";

// Reads one Parquet file in a process of its own; `lib/bills/parquet/read-apart.ts` starts it. Where cores are few, requests come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

process.once("message", async (question: ParquetQuestion) => process.send?.(await answerParquet(question)));
