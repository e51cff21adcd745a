import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { FileError } from "@/lib/ledger/import/row";
import { reportFailure } from "@/lib/log";
import {
  type ParquetAnswer,
  type ParquetQuestion,
  type ParquetTable,
  readParquet,
  type WantedMaps,
} from "./read-parquet";

/** The limits of time and memory for reading one file. The largest allowed file takes some seconds. */
const limitMs = 30_000;
const memory = "--max-old-space-size=384";

/** `here`: in this process, for development. */
let program: URL | "here" | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Enables the reading of Parquet files. @param by the bundle of `server/parquet.ts` */
export function readParquetBy(by: URL | "here"): void {
  program = by;
}

/**
 * Reads a Parquet file in a process of its own, one file at a time. A file can declare more values than fit into memory; V8 then ends the
 * whole process, even if a worker thread was reading.
 * @param maps what is read of columns that are maps
 * @throws FileError as `readParquet`; also if the service cannot start processes, or if reading takes too long or too much memory
 */
export async function readParquetApart(bytes: Uint8Array, maps: WantedMaps): Promise<ParquetTable> {
  if (program === "here") return readParquet(bytes, maps);
  if (program === undefined)
    throw new FileError("this service runs as functions, which read no Parquet. Add the file as CSV");
  const file = fileURLToPath(program);
  const turn = last.then(() => readElsewhere(file, { bytes, maps }));
  last = turn.catch(() => {});
  const answer = await turn;
  if ("problem" in answer) throw new FileError(answer.problem);
  return answer.table;
}

function readElsewhere(file: string, question: ParquetQuestion): Promise<ParquetAnswer> {
  const child = fork(file, [], {
    execArgv: [memory],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return new Promise<ParquetAnswer>((resolve, reject) => {
    const fail = (why: string) => {
      reportFailure(new Error(why), "A Parquet file could not be read.");
      reject(new FileError("it takes too long or too much memory to read. Split it by month"));
    };
    const tooLate = setTimeout(() => fail(`It took more than ${limitMs / 1000} s.`), limitMs);
    child.once("message", resolve);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => {
      clearTimeout(tooLate);
      fail(`The process that reads it ended with ${signal ?? code}.`);
    });
    child.send(question, (error) => error && fail(error.message));
  }).finally(() => void child.kill("SIGKILL"));
}
