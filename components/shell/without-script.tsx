/**
 * React streams what a page reads after its skeletons, in hidden elements at the end of the body (`S:0`, `S:1`), which a
 * script moves to the places that templates (`B:0`) mark. Without scripts these elements are shown where they are, beside
 * the sidebar, and the skeletons are not. The layer is the first, because an important rule of an earlier layer wins.
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

/** What a page shows where scripts are turned off: a notice, and its content instead of skeletons. */
export function WithoutScript() {
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
