import localFont from "next/font/local";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { ConnectionBar } from "@/components/connection/connection-bar";
import { defaultReader } from "@/components/reader/reader";
import { ReaderProvider } from "@/components/reader/reader-provider";
import { ThemeProvider } from "@/components/shell/theme-provider";
import { WithoutScript } from "@/components/shell/without-script";
import { acceptedLocale } from "@/lib/contract/values/locales";
import { serviceAddress } from "@/lib/service-address";
import "./globals.css";
import type { Metadata, Viewport } from "next";

/**
 * Geist Sans, from the files of its package. When it is not loaded at once, the page keeps the fallback font, because
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

/** Id of the element that ends what a page sends at once; what it sends later stands behind it. */
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
        {/* Paint nothing of a page before its shell has arrived: half of a row moves when the other half comes. */}
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
