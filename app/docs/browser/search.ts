import type { SearchEntry } from "../search-index";
import { rankEntries } from "./rank-entries";

/** Results shown at most. */
const atMost = 30;

/** The search: `/`, ⌘K and Ctrl-K open it. What it searches is loaded when it is first opened. */
export function enableSearch(): void {
  const dialog = document.querySelector<HTMLDialogElement>("dialog[data-search]");
  const input = dialog?.querySelector("input");
  const list = dialog?.querySelector<HTMLElement>("[role=listbox]");
  const status = dialog?.querySelector("[role=status]");
  if (!dialog || !input || !list || !status) return;

  let entries: Promise<SearchEntry[]> | undefined;
  let active = 0;
  const options = () => [...list.querySelectorAll<HTMLAnchorElement>("[role=option]")];

  const mark = (index: number) => {
    const all = options();
    active = all.length === 0 ? 0 : (index + all.length) % all.length;
    for (const [at, option] of all.entries()) option.setAttribute("aria-selected", String(at === active));
    const chosen = all[active];
    if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
    else input.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({ block: "nearest" });
  };

  const load = () => {
    entries ??= fetch(document.body.dataset.searchIndex ?? "").then((response) => {
      if (!response.ok) throw new Error(String(response.status));
      return response.json();
    });
    return entries;
  };

  const find = async () => {
    const text = input.value;
    let all: SearchEntry[];
    try {
      all = await load();
    } catch {
      entries = undefined;
      status.textContent = "The search could not be loaded. Type again to try once more.";
      return;
    }
    if (input.value !== text) return;
    const found = rankEntries(all, text);
    list.replaceChildren(...found.slice(0, atMost).map(showEntry));
    mark(0);
    if (text.trim() === "") status.textContent = "Type the name of an endpoint, a field or an error.";
    else if (found.length === 0) status.textContent = "Nothing found.";
    else
      status.textContent =
        found.length > atMost ? `The first ${atMost} of ${found.length}.` : `${found.length} found.`;
  };

  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    void find();
  };

  input.addEventListener("input", find);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      mark(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      options()[active]?.click();
    }
  });
  // A section of this very page changes nothing but the address.
  list.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.querySelector("[data-close-search]")?.addEventListener("click", () => dialog.close());
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
