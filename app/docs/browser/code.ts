const languageKey = "outlay.docs.language";

/** The language chosen once is that of every example, here and on the next visit. */
export function rememberLanguage(): void {
  const radios = [...document.querySelectorAll<HTMLInputElement>("input[data-language]")];
  const choose = (language: string) => {
    for (const radio of radios) if (radio.value === language) radio.checked = true;
  };
  const known = read();
  if (known) choose(known);
  for (const radio of radios) {
    radio.addEventListener("change", () => {
      choose(radio.value);
      write(radio.value);
    });
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(languageKey);
  } catch {
    return null;
  }
}

function write(language: string): void {
  try {
    localStorage.setItem(languageKey, language);
  } catch {
    // It holds for this page at least.
  }
}

/** The buttons that copy the code of their figure, and say so for two seconds. */
export function enableCopying(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.addEventListener("click", async () => {
      const blocks = [...(button.closest("figure")?.querySelectorAll("pre") ?? [])];
      const text = blocks.find((block) => block.offsetParent !== null)?.textContent ?? "";
      const copied = await copyText(text);
      button.textContent = copied ? "Copied" : "Not copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
  }
}

/** The clipboard is closed to pages without TLS; a self-hosted service is often reached by a plain address. */
async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  } catch {
    return false;
  }
}
