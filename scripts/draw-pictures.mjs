// `node scripts/draw-pictures.mjs`: draws the icons and the Open Graph picture in `public/` from `app/icon.svg`. `node
// scripts/draw-pictures.mjs ADDRESS PASSWORD`: also takes the README's screenshots of the demo workspace of a running
// service, which prints both at its start. Run it when the icon or the overview has changed.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import sharp from "sharp";
import { ensureChromium } from "./chromium.mjs";
import { root } from "./root.mjs";

const [address, password] = process.argv.slice(2);
const mark = readFileSync(join(root, "app/icon.svg"), "utf8");
const font = (weight) => {
  const file = join(root, `node_modules/geist/dist/fonts/geist-sans/Geist-${weight}.woff2`);
  return `data:font/woff2;base64,${readFileSync(file).toString("base64")}`;
};

const browser = await chromium.launch({
  executablePath: await ensureChromium(),
  args: ["--no-sandbox", "--disable-background-networking"],
});
try {
  await draw("public/apple-touch-icon.png", 180, 180, appleIcon());
  await draw("public/opengraph.png", 1200, 630, openGraph());
  if (address && password) for (const theme of ["light", "dark"]) await takeScreenshot(theme);
} finally {
  await browser.close();
}

/** Writes a screenshot as a PNG with a palette, which looks the same and has a third of the size. */
async function save(page, file) {
  const png = await page.screenshot();
  mkdirSync(join(root, file, ".."), { recursive: true });
  writeFileSync(
    join(root, file),
    await sharp(png).png({ palette: true, quality: 95, effort: 10 }).toBuffer(),
  );
}

async function draw(file, width, height, html) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: "light" });
  await page.setContent(html, { waitUntil: "load" });
  await page.evaluate(() => document.fonts.ready);
  await save(page, file);
  await page.close();
}

/** Phones round the corners themselves and do not support transparency. */
function appleIcon() {
  return `<style>body { margin: 0; background: #fff } svg { display: block; margin: 30px; width: 120px }</style>${mark}`;
}

function openGraph() {
  return `<style>
    @font-face { font-family: Geist; font-weight: 400; src: url(${font("Regular")}) }
    @font-face { font-family: Geist; font-weight: 600; src: url(${font("SemiBold")}) }
    body { margin: 0; box-sizing: border-box; width: 1200px; height: 630px; padding: 90px 100px; background: #fff;
      color: #18191c; font-family: Geist; display: flex; flex-direction: column; justify-content: space-between }
    .name { display: flex; align-items: center; gap: 28px; font-size: 64px; font-weight: 600; letter-spacing: -0.02em }
    .name svg { width: 84px }
    p { margin: 0; font-size: 54px; line-height: 1.25; letter-spacing: -0.02em; max-width: 960px }
    small { font-size: 28px; color: #5d6068 }
  </style>
  <div class="name">${mark} Outlay</div>
  <p>What your team spends on AI and software: what it cost, who spent it, and whether the budget holds.</p>
  <small>Self-hosted · REST, MCP and a dashboard · MIT license</small>`;
}

/** Takes a screenshot of the demo workspace's overview in one theme, signed in. */
async function takeScreenshot(theme) {
  const page = await browser.newPage({
    viewport: { width: 1440, height: 900 },
    colorScheme: theme,
    reducedMotion: "reduce",
    timezoneId: "UTC",
  });
  await page.goto(`${address}/sign-in`, { waitUntil: "networkidle" });
  await page.getByLabel("E-mail address").fill("demo@outlay.local");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
  // Waits for the figures, which arrive after the page's frame.
  await page.getByRole("heading", { name: "Spend by day" }).waitFor();
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => document.fonts.ready);
  await save(page, `docs/images/overview-${theme}.png`);
  await page.close();
}
