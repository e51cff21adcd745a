// Runs before the first paint. Sets the chosen theme, by default the system's, and marks that scripts are enabled.
import { readSetting, themeSetting } from "./theme-setting";

const chosen = readSetting(themeSetting);
const isDark =
  chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.classList.add("js", isDark ? "dark" : "light");
