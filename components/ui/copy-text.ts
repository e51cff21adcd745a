/**
 * Copies a text to the clipboard. Without TLS a page has no clipboard, and self-hosted services are often opened at a
 * plain HTTP address: there the text is copied from a hidden text area.
 * @returns false when the browser did not copy it
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  } catch {
    return false;
  }
}
