import { Problem, readProblem } from "@/components/requests/api";

/** The pieces of a file are joined into blobs of this size, which a browser can store outside of memory. */
const blobBytes = 8 * 1024 * 1024;

const problems: Record<number, string> = {
  401: "Your session has ended. Sign in again, then export.",
  404: "This workspace no longer exists, or you are no longer a member.",
  429: "Another export of yours is still running. Start this one when it has finished.",
};

/**
 * Downloads an export and saves it when it is complete, so that a partial file is never saved.
 * @param href the export's address
 * @param onProgress is called with the bytes that have arrived
 * @throws Problem that says what went wrong and what to do; nothing is saved then
 */
export async function exportFile(
  href: string,
  onProgress: (bytes: number) => void,
): Promise<{ file: Blob; name: string }> {
  let answer: Response;
  try {
    answer = await fetch(href);
  } catch {
    throw new Problem("Outlay cannot be reached, so nothing was exported. Try again in a moment.");
  }
  if (!answer.ok) throw new Problem(problems[answer.status] ?? (await readProblem(answer)).message);
  const type = answer.headers.get("Content-Type") ?? "text/csv";
  const name =
    /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "outlay.csv";
  try {
    return { file: await collect(answer, type, onProgress), name };
  } catch {
    throw new Problem(
      "The connection broke before the whole file arrived, so nothing was saved. Export again, or choose a shorter range.",
    );
  }
}

async function collect(answer: Response, type: string, onProgress: (bytes: number) => void): Promise<Blob> {
  const blobs: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let waiting = 0;
  const join = () => {
    blobs.push(new Blob(pieces));
    pieces = [];
    waiting = 0;
  };
  const reader = answer.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    pieces.push(read.value);
    bytes += read.value.length;
    waiting += read.value.length;
    if (waiting >= blobBytes) join();
    onProgress(bytes);
  }
  join();
  return new Blob(blobs, { type });
}
