import { indexAfterKey } from "@/components/ui/arrow-keys";
import type { SearchEntry } from "../search-index";
import { rankEntries } from "./rank-entries";

/** Results that are shown at most. */
const maxResults = 30;

/** Enables the search dialog: `/`, ⌘K and Ctrl-K open it. The search index is loaded when the dialog is first opened. */
export function enableSearch(): void {
  const dialog = document.querySelector<HTMLDialogElement>("dialog[data-search]");
  const input = dialog?.querySelector("input");
  const list = dialog?.querySelector<HTMLElement>("[role=listbox]");
  const status = dialog?.querySelector("[role=status]");
  if (!dialog || !input || !list || !status) return;

  let entries: Promise<SearchEntry[]> | undefined;
  let active = 0;
  const options = () => [...list.querySelectorAll<HTMLAnchorElement>("[role=option]")];

  const activate = (next: number) => {
    active = next;
    const results = options();
    for (const [index, option] of results.entries())
      option.setAttribute("aria-selected", String(index === active));
    const option = results[active];
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  };

  const find = async () => {
    const text = input.value;
    entries ??= fetch(document.body.dataset.searchIndex ?? "").then((response) => response.json());
    const all = await entries.catch(() => undefined);
    if (input.value !== text) return;
    if (!all) {
      entries = undefined;
      status.textContent = "The search could not be loaded. Type again to try once more.";
      return;
    }
    const found = rankEntries(all, text);
    list.replaceChildren(...found.slice(0, maxResults).map(showEntry));
    activate(0);
    if (text.trim() === "") status.textContent = "Type the name of an endpoint, a field or an error.";
    else if (found.length === 0) status.textContent = "Nothing found.";
    else
      status.textContent =
        found.length > maxResults ? `The first ${maxResults} of ${found.length}.` : `${found.length} found.`;
  };

  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    void find();
  };

  input.addEventListener("input", find);
  input.addEventListener("keydown", (event) => {
    const results = options();
    const next = indexAfterKey(event.key, active, results.length, { wraps: true });
    if (next !== undefined) activate(next);
    else if (event.key === "Enter") results[active]?.click();
    else return;
    event.preventDefault();
  });
  // A result on this page changes only the address, so the dialog has to be closed here.
  list.addEventListener("click", () => dialog.close());
  document.querySelector("[data-open-search]")?.addEventListener("click", open);
  addEventListener("keydown", (event) => {
    const isPalette = event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.shiftKey;
    const isTyping =
      event.target instanceof HTMLElement &&
      event.target.matches("input:not([type=radio]), select, textarea");
    const isSlash = event.key === "/" && !isTyping && !event.metaKey && !event.ctrlKey && !event.altKey;
    if (!isPalette && !isSlash) return;
    event.preventDefault();
    if (isPalette && dialog.open) dialog.close();
    else open();
  });
}

function showEntry({ name, of, href }: SearchEntry, index: number): HTMLElement {
  const option = document.createElement("a");
  option.id = `search-result-${index}`;
  option.href = href;
  option.tabIndex = -1;
  option.setAttribute("role", "option");
  const about = document.createElement("small");
  about.textContent = of;
  option.append(name, about);
  return option;
}
