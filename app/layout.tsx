import "./globals.css";
import type { Metadata, Viewport } from "next";
import type { ReactNode } from "react";
import { ThemeProvider } from "@/components/shell/theme-provider";
import { serviceAddress } from "@/lib/service-address";
import { mono, sans } from "./fonts";

const description =
  "Records what a team spends on AI and software and tells exactly what it cost, who spent it and whether the budget holds.";

/** Worked out at each request, where a page is: the service's address is a setting, which a build does not know. */
export function generateMetadata(): Metadata {
  return {
    metadataBase: new URL(serviceAddress()),
    title: { default: "Outlay", template: "%s · Outlay" },
    description,
    applicationName: "Outlay",
    // Naming one here replaces what Next finds in the folder.
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

/** What every page stands in: fonts from the package, never from the network, and the theme. */
export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    // next-themes puts the theme's class here before React wakes up; that difference is meant.
    <html lang="en" suppressHydrationWarning className={`${sans.variable} ${mono.variable}`}>
      <body className="min-h-dvh font-sans text-[15px] leading-relaxed">
        <ThemeProvider>{children}</ThemeProvider>
      </body>
    </html>
  );
}
