import { copyText } from "@/components/ui/copy-text";
import { readSetting, writeSetting } from "./settings";

const languageSetting = "outlay.docs.language";

/** Shows every example in the language that was chosen last, also at the next visit. */
export function rememberLanguage(): void {
  const radios = [...document.querySelectorAll<HTMLInputElement>("input[data-language]")];
  const choose = (language: string) => {
    for (const radio of radios) if (radio.value === language) radio.checked = true;
  };
  const stored = readSetting(languageSetting);
  if (stored) choose(stored);
  for (const radio of radios) {
    radio.addEventListener("change", () => {
      choose(radio.value);
      writeSetting(languageSetting, radio.value);
    });
  }
}

/** Enables the buttons that copy the visible code of their figure. Each confirms it for two seconds. */
export function enableCopying(): void {
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
