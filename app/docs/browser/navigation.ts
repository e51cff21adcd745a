/**
 * Sends links that were made while all of the reference was one page (`/docs#post-messages`) on to the page that has the
 * section now: on `/docs`, what has that id is a link there.
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

/** The contents on a phone fold themselves up once a section was chosen: they would hide it. */
export function keepContentsTidy(): void {
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
