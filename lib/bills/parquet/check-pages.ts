import type { FileMetaData } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { FileError } from "@/lib/ledger/import/row";

/** The maximum size of an uncompressed page, in bytes. Common writers make pages of 1 to 20 MB. */
export const maxPageBytes = 64 * 1024 * 1024;

/**
 * Checks the page headers of some columns, because the library allocates the sizes they state before it reads the page.
 * @throws FileError if a header states more than the file holds
 */
export function checkPages(bytes: Uint8Array, metadata: FileMetaData, columns: readonly string[]): void {
  for (const { columns: chunks, num_rows: rows } of metadata.row_groups)
    for (const { meta_data: chunk, file_path: path } of chunks) {
      const name = chunk?.path_in_schema[0] ?? "";
      if (!chunk || !columns.includes(name)) continue;
      if (path) throw new FileError(`${name} is in another file. Export it as one file`);
      const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
      const end = start + Number(chunk.total_compressed_size);
      if (!(start >= 4 && end >= start && end <= bytes.byteLength))
        throw new FileError(`${name} is cut off. Export it again`);
      // A map has several values a row; how many, its caller has limited.
      const most = chunk.path_in_schema.length > 1 ? chunk.num_values : rows;
      checkChunk(bytes.subarray(start, end), Number(most), name);
    }
}

/** @param mostValues that a page can have: the rows of the group, for a column that is not nested */
function checkChunk(chunk: Uint8Array, mostValues: number, name: string): void {
  const reader = { view: new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength), offset: 0 };
  while (reader.offset < chunk.byteLength - 1) {
    const header = headerOf(reader, name);
    const {
      dictionary_page_header: dictionary,
      data_page_header: first,
      data_page_header_v2: second,
    } = header;
    const values = dictionary?.num_values ?? first?.num_values ?? second?.num_values ?? 0;
    const sizes = [header.compressed_page_size, header.uncompressed_page_size];
    const most = dictionary ? header.uncompressed_page_size : mostValues;
    if (sizes.some((size) => !(size >= 0 && size <= maxPageBytes)) || !(values >= 0 && values <= most))
      throw new FileError(`${name} has a page that cannot be as long as it says. Export it again`);
    reader.offset += header.compressed_page_size;
  }
}

function headerOf(reader: { view: DataView; offset: number }, name: string) {
  try {
    return parquetHeader(reader);
  } catch {
    throw new FileError(`${name} has a page that cannot be read. Export it again`);
  }
}
