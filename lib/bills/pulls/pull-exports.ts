import { z } from "zod";
import type { Dollars } from "@/lib/bills/money";
import { type BillFile, parseBillFile } from "@/lib/bills/read-file";
import { firstDayAfter } from "@/lib/bills/read-row";
import { ServiceError } from "@/lib/errors";
import type { Bucket, BucketFile } from "./bucket";
import { type DayRange, ProviderFailure, type PulledPage, type PulledRow } from "./provider";

/** The manifest of AWS Data Exports (`dataFiles`, addresses) or of Azure Cost Management (`blobs`, names). */
const manifest = z.union([
  z.object({ dataFiles: z.array(z.string()) }).transform(({ dataFiles }) => dataFiles),
  z
    .object({ blobs: z.array(z.object({ blobName: z.string() })) })
    .transform(({ blobs }) => blobs.map(({ blobName }) => blobName)),
]);

/**
 * Reads the exports of a folder, FOCUS or CUR 2.0, as pages of a month: of each month its last manifest says which files count, and where a
 * folder has none, all files of it do. What a file bills on another day than those of its month is of its month's first day.
 * @param range days to read: files of months without such a day are not
 * @throws ProviderRefusal, ProviderFailure
 */
export async function* pullExports(bucket: Bucket, range: DayRange): AsyncGenerator<PulledPage> {
  const files = await bucket.list();
  for (const [month, names] of [...(await filesByMonth(bucket, files, range))].sort()) {
    const days = new Map<string, PulledRow[]>();
    const formats = new Set<string>();
    for (const name of names) {
      const { format, statements } = await readFile(bucket, name);
      formats.add(format);
      for (const { from, facts } of statements) {
        const day = month !== "" && !from.startsWith(month) ? `${month}-01` : from;
        if (day < range.from || day >= range.until) continue;
        const rows = facts.map((fact) => ({ ...fact, amount: fact.amount as Dollars }));
        days.set(day, [...(days.get(day) ?? []), ...rows]);
      }
    }
    if (formats.size > 1)
      throw new ProviderFailure(
        "The folder has exports in several formats, which bill the same money. Name the folder of one export.",
      );
    yield [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, rows]) => ({ day, rows }));
  }
}

const isData = ({ name }: BucketFile) => /\.(parquet|csv|csv\.gz)$/i.test(name);
const isManifest = ({ name }: BucketFile) => /(^|[-_/])manifest\.json$/i.test(name);

/** The month in a name, as clouds write it: `BILLING_PERIOD=2026-10`, `20261001-20261031`. Empty if there is none. */
function monthOf(name: string): string {
  const [, period] = /billing_period=(\d{4}-\d\d)/i.exec(name) ?? [];
  const [, year, month] = /(?:^|\/)(\d{4})(\d\d)\d\d-\d{8}\//.exec(name) ?? [];
  return period ?? (year ? `${year}-${month}` : "");
}

/** The files to read of each month with a day of the range; those without a month under an empty name, which are read at once. */
async function filesByMonth(
  bucket: Bucket,
  files: readonly BucketFile[],
  range: DayRange,
): Promise<Map<string, string[]>> {
  const isInRange = (month: string) =>
    month === "" || (`${month}-01` < range.until && firstDayAfter(month) > range.from);
  const wanted = files.filter(({ name }) => isInRange(monthOf(name)));
  const found = new Map<string, string[]>();
  const latest = new Map<string, BucketFile>();
  for (const file of wanted.filter(isManifest)) {
    const known = latest.get(monthOf(file.name));
    if (!known || file.changedAt > known.changedAt) latest.set(monthOf(file.name), file);
  }
  for (const [month, { name }] of latest) {
    const parsed = manifest.safeParse(readJson(await bucket.read(name)));
    if (!parsed.success) throw new ProviderFailure(`${name} is no manifest of AWS or Azure.`);
    const own = parsed.data.map((named) => {
      const file = files.find(({ name: each }) => named === each || named.endsWith(`/${each}`));
      if (!file) throw new ProviderFailure(`${name} names ${named}, which is not in the folder.`);
      return file.name;
    });
    found.set(
      month,
      own.filter((each) => isData({ name: each, changedAt: "" })),
    );
  }
  for (const file of wanted.filter(isData)) {
    const month = monthOf(file.name);
    if (!latest.has(month)) found.set(month, [...(found.get(month) ?? []), file.name]);
  }
  // One page cannot go back to days of another: with files of unknown months, all of them are one.
  if (found.has("") && found.size > 1) return new Map([["", [...found.values()].flat()]]);
  return found;
}

function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** @throws ProviderFailure that names the file and what is wrong with it */
async function readFile(bucket: Bucket, name: string): Promise<BillFile> {
  const bytes = await bucket.read(name);
  try {
    return await parseBillFile({
      content: bytes.toString("base64"),
      ...{ encoding: "base64" as const, amounts_in: "dollars" as const, constants: {} },
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ProviderFailure(`${name}: ${error.message}`);
  }
}
