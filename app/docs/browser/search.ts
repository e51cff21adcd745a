import type { SearchEntry } from "../search-index";

/** The most results that are shown. */
const maxResults = 30;

/**
 * The entries that contain every word of a text: entries whose name is the text, names that begin with it, names that contain
 * its words, and then other matches. Equal matches stay in the order of the pages.
 */
export function findEntries(entries: readonly SearchEntry[], text: string): SearchEntry[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const words = wanted.split(/\s+/);
  const has = (where: string) => words.every((word) => where.includes(word));
  const ranks: ((name: string, entry: SearchEntry) => boolean)[] = [
    (name) => name === wanted || name.endsWith(`.${wanted}`),
    (name) => name.startsWith(wanted) || name.includes(`.${wanted}`),
    (name) => has(name),
    (name, { of }) => has(`${name} ${of.toLowerCase()}`),
    (name, { of, words: more = "" }) => has(`${name} ${of} ${more}`.toLowerCase()),
  ];
  const places = entries.map((entry) => ranks.findIndex((holds) => holds(entry.name.toLowerCase(), entry)));
  return ranks.flatMap((_, rank) => entries.filter((_, at) => places[at] === rank));
}

/** Enables the search dialog, which `/`, ⌘K and Ctrl-K open. Its index is loaded when it is first opened. */
export function enableSearch(): void {
  const dialog = document.querySelector<HTMLDialogElement>("dialog[data-search]");
  const input = dialog?.querySelector("input");
  const list = dialog?.querySelector("ul");
  const status = dialog?.querySelector("[role=status]");
  if (!dialog || !input || !list || !status) return;
  let entries: Promise<SearchEntry[]> | undefined;

  const find = async () => {
    const text = input.value;
    entries ??= fetch(document.body.dataset.searchIndex ?? "").then((response) => response.json());
    const all = await entries.catch(() => undefined);
    if (input.value !== text) return;
    if (!all) entries = undefined;
    const found = findEntries(all ?? [], text);
    list.replaceChildren(...found.slice(0, maxResults).map(showEntry));
    status.textContent = !all
      ? "The search could not be loaded. Type again to try once more."
      : text.trim() === ""
        ? "Type the name of an endpoint, a field or an error."
        : found.length > maxResults
          ? `The first ${maxResults} of ${found.length}.`
          : found.length > 0
            ? `${found.length} found. Enter opens the first.`
            : "Nothing found.";
  };

  input.addEventListener("input", find);
  input.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") list.querySelector("a")?.click();
  });
  // A result on this page changes only the address, so the dialog has to be closed here.
  list.addEventListener("click", () => dialog.close());
  const open = () => {
    dialog.showModal();
    input.select();
    void find();
  };
  document.querySelector("[data-open-search]")?.addEventListener("click", open);
  addEventListener("keydown", (event) => {
    const isPalette = event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.shiftKey;
    const isSlash = event.key === "/" && !event.metaKey && !event.ctrlKey && !event.altKey;
    if (dialog.open || !(isPalette || isSlash)) return;
    event.preventDefault();
    open();
  });
}

function showEntry({ name, of, href }: SearchEntry): HTMLElement {
  const item = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { href });
  const about = Object.assign(document.createElement("small"), { textContent: of });
  link.append(name, about);
  item.append(link);
  return item;
}
