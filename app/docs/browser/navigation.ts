/**
 * Follows old links. The reference used to be a single page, so that `/docs#post-messages` was a section; now the element
 * with this id is a link to the page of the section.
 */
export function followOldAnchors(): void {
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLAnchorElement && target.dataset.moved !== undefined)
      location.replace(target.href);
  };
  follow();
  addEventListener("hashchange", follow);
}

/** Folds the contents of a phone away when a section was chosen, because they would hide it, and on Escape. */
export function closeContentsOnChoice(): void {
  const contents = document.querySelector<HTMLDetailsElement>("details[data-contents]");
  contents?.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("a")) contents.open = false;
  });
  contents?.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    contents.open = false;
    contents.querySelector("summary")?.focus();
  });
}
