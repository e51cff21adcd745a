import { renderToStaticMarkup } from "react-dom/server";
import { DocsHeader, SearchDialog } from "@/components/docs/docs-header";
import { DocsNav } from "@/components/docs/docs-nav";
import type { DocsPage, DocsSite } from "./pages";

/** The paths of the files that every page loads. */
export type Assets = {
  css: string;
  fonts: string[];
  theme: string;
  script: string;
  search: string;
  icon: string;
};

/** Renders a page to HTML. It has no inline scripts, so that it needs no exception in the Content-Security-Policy. */
export function renderPage(page: DocsPage, { groups }: DocsSite, assets: Assets): string {
  const title = page.path === "/docs" ? "API reference · Outlay" : `${page.title} · API reference · Outlay`;
  const html = renderToStaticMarkup(
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <meta name="description" content={page.description} />
        <link rel="icon" href={assets.icon} type="image/svg+xml" />
        {assets.fonts.map((font) => (
          <link key={font} rel="preload" href={font} as="font" type="font/woff2" crossOrigin="anonymous" />
        ))}
        <link rel="stylesheet" href={assets.css} />
        {/* Runs before the first paint, so that a dark page is not light for a moment. */}
        <script src={assets.theme} />
        {/* Runs before the first paint if possible, because replacing an address by one of another length moves the text. */}
        <script src={assets.script} defer blocking="render" />
      </head>
      <body className="min-h-dvh font-sans text-[15px] leading-relaxed" data-search-index={assets.search}>
        <a
          href="#content"
          className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-40 focus:rounded-md focus:bg-background focus:px-3 focus:py-2"
        >
          Skip to the content
        </a>
        <DocsHeader />
        <div className="mx-auto max-w-[1440px] lg:flex lg:px-6">
          <DocsNav groups={groups} current={page.path} />
          <main id="content" className="min-w-0 flex-1 px-4 pt-8 pb-16 sm:px-6 lg:pr-0 lg:pl-10">
            <h1 className="mb-4 font-semibold text-3xl tracking-tight">
              {page.path === "/docs" ? "API reference" : page.title}
            </h1>
            {page.content}
          </main>
        </div>
        <SearchDialog />
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}
