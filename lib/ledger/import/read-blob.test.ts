import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readBlob } from "./read-blob";
import { inspectFile, readRows } from "./read-file";

const folder = mkdtempSync(join(tmpdir(), "outlay-read-blob-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const limits = { maxRows: 50_000, maxBytes: 1024 ** 2 * 64 };

const files = {
  "plain.csv": "project,cost\ncheckout,1.5\nsearch,2\n",
  "excel.csv":
    '\uFEFFProject;Cost;Notes\r\ncheckout;1.5;"two\r\nlines; quoted ""so"""\r\n\r\nsearch;2;ä€😀\r\n',
  "broken.csv": "project\tcost\ncheckout\t1\tmore\nsearch\t2",
  "long.csv": `project,cost\n${Array.from({ length: 20_000 }, (_, row) => `p${row},0.${row}`).join("\n")}`,
};

for (const [name, content] of Object.entries(files)) {
  test(`Reads the same rows, lines and hash of ${name} in a browser as in the command`, async () => {
    const path = join(folder, name);
    writeFileSync(path, content);
    const facts = await inspectFile(path);
    const expected = [];
    for await (const row of readRows(path, facts)) expected.push(row);
    const read = await readBlob(new Blob([content]), limits);
    expect(read.hash).toBe(facts.hash);
    expect(read.columns).toEqual(facts.columns);
    expect(read.rows).toEqual(expected);
    expect(read.rows.map(({ line }) => line)).toEqual(expected.map(({ line }) => line));
  });
}

test("Explains why it refuses a file that is too large, has no header or has a column twice", async () => {
  const read = (content: string, changed = {}) => readBlob(new Blob([content]), { ...limits, ...changed });
  await expect(read("a\n1\n2\n3\n", { maxRows: 2 })).rejects.toThrow("more than 2 rows");
  await expect(read("a\n1\n", { maxBytes: 1 })).rejects.toThrow("larger than");
  await expect(read("")).rejects.toThrow("empty");
  await expect(read("a,a\n1,2\n")).rejects.toThrow('"a" is there twice');
  await expect(read('a\n"never closed\n')).rejects.toThrow("cannot be read as CSV");
});
