// Runs before the first paint: the theme that was chosen in the app (next-themes keeps it under this name), else the
// system's; and that there are scripts at all, for what only works with them.
const root = document.documentElement;
let chosen: string | null = null;
try {
  chosen = localStorage.getItem("theme");
} catch {
  // Storage is closed to this page: the system's theme it is.
}
const isDark =
  chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
root.classList.add("js", isDark ? "dark" : "light");
