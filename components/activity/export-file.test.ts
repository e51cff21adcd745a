import { afterEach, expect, test, vi } from "vitest";
import { exportFile } from "./export-file";

afterEach(() => {
  vi.unstubAllGlobals();
});

const answerWith = (answer: () => Response) => vi.stubGlobal("fetch", async () => answer());

const save = (onProgress: (bytes: number) => void = () => {}) =>
  exportFile("/export?format=focus", onProgress);

test("Gives a whole file its name, and says how much of it has arrived", async () => {
  const headers = { "content-type": "text/csv", "content-disposition": 'attachment; filename="acme.csv"' };
  answerWith(() => new Response("a,b\r\n1,2\r\n", { headers }));
  const progress: number[] = [];
  const { file, name } = await save((bytes) => progress.push(bytes));
  expect([name, await file.text()]).toEqual(["acme.csv", "a,b\r\n1,2\r\n"]);
  expect(progress.at(-1)).toBe(10);
});

test("Does not pass a part of a file for the whole, and says what to do", async () => {
  let pieces = 0;
  const broken = new ReadableStream({
    pull(controller) {
      pieces += 1;
      if (pieces > 1) controller.error(new Error("reset"));
      else controller.enqueue(new TextEncoder().encode("a,b\r\n"));
    },
  });
  answerWith(() => new Response(broken));
  await expect(save()).rejects.toThrow(/^The connection broke .* nothing was saved\. Export again/);
});

test("Says that the service cannot be reached", async () => {
  answerWith(() => {
    throw new TypeError("Failed to fetch");
  });
  await expect(save()).rejects.toThrow(/so nothing was exported\. Try again in a moment\.$/);
});

test("Says why an export is refused during another one", async () => {
  answerWith(() => new Response('{"error":"export_in_progress"}', { status: 429 }));
  await expect(save()).rejects.toThrow("Another export of yours is still running.");
});
