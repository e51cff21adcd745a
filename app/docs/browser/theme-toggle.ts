/** Turns the page from light to dark and back, as the app does: choosing the system's own follows the system again. */
export function enableThemeToggle(): void {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = (isDark: boolean) => {
    root.classList.toggle("dark", isDark);
    root.classList.toggle("light", !isDark);
    // Colours change at once: where each level of the page had a transition of its own, they would follow one another.
    root.classList.add("switching");
    void getComputedStyle(document.body).color;
    setTimeout(() => root.classList.remove("switching"), 1);
  };
  document.querySelector("[data-theme-toggle]")?.addEventListener("click", () => {
    const isDark = !root.classList.contains("dark");
    show(isDark);
    try {
      localStorage.setItem("theme", isDark === system.matches ? "system" : isDark ? "dark" : "light");
    } catch {
      // It holds for this page at least.
    }
  });
  system.addEventListener("change", () => {
    let chosen: string | null = null;
    try {
      chosen = localStorage.getItem("theme");
    } catch {
      // Then nothing was chosen.
    }
    if (chosen !== "dark" && chosen !== "light") show(system.matches);
  });
}
