// Runs before the first paint. Sets the theme that was chosen in the app, where next-themes keeps it, by default the system's, and
// marks that scripts are enabled.
import { readSetting } from "./settings";

const chosen = readSetting("theme");
const system = matchMedia("(prefers-color-scheme: dark)");
const { classList } = document.documentElement;
const show = () => {
  const isDark = chosen === "dark" || (chosen !== "light" && system.matches);
  classList.toggle("dark", isDark);
  classList.toggle("light", !isDark);
};
classList.add("js");
show();
system.addEventListener("change", () => {
  // Without transitions, so that all colours change at the same time.
  classList.add("switching");
  show();
  void getComputedStyle(document.body).color;
  setTimeout(() => classList.remove("switching"), 1);
});
