/** A setting of this browser; null when it is not set, or the page may not use the storage. */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Stores a setting. When the page may not use the storage, the setting only applies to this page. */
export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Nothing to do.
  }
}

/** The theme that was chosen in the app or the reference; next-themes keeps it under the same name. */
export const themeSetting = "theme";

/** Enables the button that switches between light and dark. Choosing the system's theme follows the system again. */
export function enableThemeToggle(): void {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = (isDark: boolean) => {
    root.classList.toggle("dark", isDark);
    root.classList.toggle("light", !isDark);
    // Without transitions, so that all colours change at the same time.
    root.classList.add("switching");
    void getComputedStyle(document.body).color;
    setTimeout(() => root.classList.remove("switching"), 1);
  };
  document.querySelector("[data-theme-toggle]")?.addEventListener("click", () => {
    const isDark = !root.classList.contains("dark");
    show(isDark);
    writeSetting(themeSetting, isDark === system.matches ? "system" : isDark ? "dark" : "light");
  });
  system.addEventListener("change", () => {
    const chosen = readSetting(themeSetting);
    if (chosen !== "dark" && chosen !== "light") show(system.matches);
  });
}
