/** Reads a list to its end, whose next page begins behind what was read. A page that repeats the one before is the end, too. */
export async function readByOffset<T>(page: (offset: string) => Promise<{ data: T[] }>): Promise<T[]> {
  const all: T[] = [];
  for (let before = ""; ; ) {
    const { data } = await page(String(all.length));
    const found = JSON.stringify(data);
    if (data.length === 0 || found === before) return all;
    all.push(...data);
    before = found;
  }
}
