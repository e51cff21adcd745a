import localFont from "next/font/local";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { ConnectionBar } from "@/components/connection/connection-bar";
import { defaultReader } from "@/components/reader/reader";
import { ReaderProvider } from "@/components/reader/reader-provider";
import { ThemeProvider } from "@/components/shell/theme-provider";
import { acceptedLocale } from "@/lib/contract/values/locales";
import { serviceAddress } from "@/lib/service-address";
import "./globals.css";
import type { Metadata, Viewport } from "next";

/**
 * Geist Sans, from the files of its package. If it is not loaded in time, the page keeps the fallback font, because
 * changing the font later would move the text.
 */
const sans = localFont({
  src: "../node_modules/geist/dist/fonts/geist-sans/Geist-Variable.woff2",
  variable: "--font-geist-sans",
  weight: "100 900",
  display: "optional",
});

/** Geist Mono. */
const mono = localFont({
  src: "../node_modules/geist/dist/fonts/geist-mono/GeistMono-Variable.woff2",
  variable: "--font-geist-mono",
  weight: "100 900",
  display: "optional",
  adjustFontFallback: false,
  fallback: ["ui-monospace", "SFMono-Regular", "Menlo", "Liberation Mono", "monospace"],
});

const description =
  "Records what a team spends on AI and software, and reports exactly what it cost, who spent it and whether the budget holds.";

/** Generated for each request, because the address of the service is a setting that the build does not know. */
export function generateMetadata(): Metadata {
  return {
    metadataBase: new URL(serviceAddress()),
    title: { default: "Outlay", template: "%s · Outlay" },
    description,
    applicationName: "Outlay",
    // Setting icons replaces those that Next finds in the folder.
    icons: { icon: { url: "/icon.svg", type: "image/svg+xml" }, apple: "/apple-touch-icon.png" },
    openGraph: {
      type: "website",
      siteName: "Outlay",
      description,
      images: [{ url: "/opengraph.png", width: 1200, height: 630, alt: "Outlay" }],
    },
    twitter: { card: "summary_large_image" },
  };
}

export const viewport: Viewport = {
  colorScheme: "light dark",
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#ffffff" },
    { media: "(prefers-color-scheme: dark)", color: "#0d0e10" },
  ],
};

/** Id of the element at the end of a page's shell, which is sent first. Content that is streamed later follows it. */
const shellEndId = "shell-end";

/** The document of every page: fonts, theme and styles. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const sent = await headers();
  const nonce = nonceOf(sent.get("Content-Security-Policy"));
  const reader = { ...defaultReader, locale: acceptedLocale(sent.get("Accept-Language")) };
  return (
    // next-themes sets the class of the theme before hydration, so the server and the browser differ here.
    <html lang="en" suppressHydrationWarning className={`${sans.variable} ${mono.variable}`}>
      <head>
        {/* Delays the first paint until the whole shell has arrived, because a partial row would move when the rest arrives. */}
        <link rel="expect" href={`#${shellEndId}`} blocking="render" />
      </head>
      <body className="min-h-dvh font-sans text-[15px] leading-relaxed">
        <WithoutScript />
        <ThemeProvider nonce={nonce}>
          <ReaderProvider reader={reader} isFallback>
            {children}
            <ConnectionBar />
          </ReaderProvider>
        </ThemeProvider>
        <template id={shellEndId} />
      </body>
    </html>
  );
}

/** The nonce in a Content-Security-Policy, which `proxy.ts` sets on the request of every page. */
function nonceOf(policy: string | null): string | undefined {
  return policy?.match(/'nonce-([^']+)'/)?.[1];
}

/**
 * React streams the content of a page after its skeletons, in hidden elements at the end of the body (`S:0`, `S:1`), which a
 * script moves to the places that templates (`B:0`) mark. Without scripts, these styles show the elements where they are, beside
 * the sidebar, and hide the skeletons. The layer is the first, because important rules of an earlier layer win.
 */
const withoutScript = `@layer theme {
  body > div[hidden][id^="S:"] { display: block !important; max-width: 1200px !important; margin-inline: auto !important; padding: 0 1rem 2rem !important }
  [data-skeleton], [aria-busy="true"], main > template[id^="B:"] ~ * { display: none !important }
  body:has(> div[hidden][id^="S:"]) main#content { padding-bottom: 0 !important }
  @media (width >= 64rem) {
    body:has([data-shell]) > div[hidden][id^="S:"] { margin-left: 15rem !important; padding-inline: 2rem !important }
    body:has([data-shell]) > [data-without-script] { margin-left: 15rem !important }
    [data-shell] > #sidebar { position: fixed !important; width: 15rem !important }
    [data-shell] > :has(> main) { grid-column: 2 !important }
  }
}`;

/** The notice and the styles for browsers with scripts turned off, which show the content instead of skeletons. */
function WithoutScript() {
  return (
    <noscript>
      <style>{withoutScript}</style>
      <div
        role="note"
        data-without-script
        className="border-warning/30 border-b bg-warning/10 px-4 py-2.5 text-sm text-warning sm:px-8"
      >
        JavaScript is turned off. You can read this page, but most buttons, menus and charts do not work. Turn
        it on for this site, then reload the page.
      </div>
    </noscript>
  );
}
