// The script of the reference. The pages work without it.
import { copyText } from "@/components/ui/copy-text";
import { defaultAddress, toolsPath } from "../addresses";
import { enableSearch } from "./search";
import { readSetting, writeSetting } from "./settings";

void replaceAddresses();
rememberLanguage();
enableCopying();
closeContentsOnChoice();
enableSearch();

/**
 * Replaces the addresses in the generated files with the origin of this page. The agent tools may have a host of their own
 * (MCP_URL), which is read from the metadata of the authorization server; until then, this origin is shown.
 */
async function replaceAddresses(): Promise<void> {
  const { origin } = location;
  const tools = origin + toolsPath;
  replace(defaultAddress, origin);
  if (!document.body.textContent.includes(tools)) return;
  try {
    const response = await fetch(`${origin}/.well-known/oauth-authorization-server`);
    const { protected_resources: resources } = (await response.json()) as { protected_resources?: string[] };
    const own = resources?.find((address) => !address.endsWith(toolsPath)) ?? resources?.[1];
    if (response.ok && own) replace(tools, own);
  } catch {
    // Keeps the shown address: the tools also answer at the origin of this page.
  }
}

function replace(shown: string, address: string): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (text.nodeValue?.includes(shown)) text.nodeValue = text.nodeValue.replaceAll(shown, address);
  }
}

/** Shows every example in the language that was chosen last, also at the next visit. */
function rememberLanguage(): void {
  const radios = [...document.querySelectorAll<HTMLInputElement>("input[data-language]")];
  const choose = (language: string) => {
    for (const radio of radios) if (radio.value === language) radio.checked = true;
  };
  const stored = readSetting("outlay.docs.language");
  if (stored) choose(stored);
  for (const radio of radios) {
    radio.addEventListener("change", () => {
      choose(radio.value);
      writeSetting("outlay.docs.language", radio.value);
    });
  }
}

/** Enables the buttons that copy the visible code of their figure. Each confirms it for two seconds. */
function enableCopying(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.addEventListener("click", async () => {
      const blocks = [...(button.closest("figure")?.querySelectorAll("pre") ?? [])];
      const text = blocks.find((block) => block.offsetParent !== null)?.textContent ?? "";
      button.textContent = (await copyText(text)) ? "Copied" : "Not copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
  }
}

/** Folds the contents of a phone away when a section was chosen, because they would hide it, and on Escape. */
function closeContentsOnChoice(): void {
  const contents = document.querySelector<HTMLDetailsElement>("details[data-contents]");
  contents?.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("a")) contents.open = false;
  });
  contents?.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    contents.open = false;
    contents.querySelector("summary")?.focus();
  });
}
