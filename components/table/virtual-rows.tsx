import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  Fragment,
  type ReactNode,
  type Ref,
  type RefObject,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";

/** Keeps one row of a long list rendered, wherever the window is. */
export type RowKeeper = {
  keep: (index: number) => void;
  /** Renders the row at once, so that it can take the focus, and scrolls the window to it. */
  reveal: (index: number) => void;
};

/** The height of a row in px before it is measured. */
const usualHeight = 52;

/** The height of the window in px that the page's header covers: `scroll-padding-top` in `theme.css`. */
const headerHeight = 72;

/**
 * Renders the rows of a long list that are in or near the window. Empty rows as high as all others keep the table's height. The row
 * with the focus stays rendered, so that scrolling does not lose the focus.
 */
export function VirtualRows({
  keys,
  isGrouped,
  keeper,
  render,
}: {
  /** The ids of all rows, in their order. */
  keys: string[];
  /** True if each row is a group of its own. */
  isGrouped: boolean;
  keeper: RefObject<RowKeeper | null>;
  /** The row at a position. Its element, which has the attribute `data-index`, is measured by `ref`. */
  render: (index: number, ref: Ref<HTMLElement>) => ReactNode;
}) {
  const start = useRef<HTMLTableSectionElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const [kept, setKept] = useState<number>();
  useLayoutEffect(() => {
    const measure = () => {
      const top = start.current?.getBoundingClientRect().top;
      if (top !== undefined) setScrollMargin(Math.round(top + window.scrollY));
    };
    measure();
    // The content above the table may change its height.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  const virtualizer = useWindowVirtualizer({
    count: keys.length,
    estimateSize: () => usualHeight,
    getItemKey: (index) => keys[index] ?? index,
    overscan: 15,
    scrollMargin,
    scrollPaddingStart: headerHeight,
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      if (kept === undefined || kept >= keys.length || shown.includes(kept)) return shown;
      return [...shown, kept].sort((a, b) => a - b);
    },
  });
  useImperativeHandle(
    keeper,
    () => ({
      keep: setKept,
      reveal: (index) => {
        flushSync(() => setKept(index));
        virtualizer.scrollToIndex(index);
      },
    }),
    [virtualizer],
  );
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.start ?? scrollMargin;
  const end = items.at(-1)?.end ?? scrollMargin;
  const rows = items.map((item, place) => (
    <Fragment key={item.key}>
      {place === 0 ? null : (
        <Gap height={item.start - (items[place - 1]?.end ?? item.start)} isGrouped={isGrouped} />
      )}
      {render(item.index, virtualizer.measureElement)}
    </Fragment>
  ));
  return (
    <>
      <tbody ref={start} aria-hidden="true">
        <Gap height={first - scrollMargin} />
      </tbody>
      {isGrouped ? rows : <tbody>{rows}</tbody>}
      <tbody aria-hidden="true">
        <Gap height={virtualizer.getTotalSize() - (end - scrollMargin)} />
      </tbody>
    </>
  );
}

/** Takes the place of rows that are not rendered. */
function Gap({
  height,
  isGrouped = false,
}: {
  /** px */
  height: number;
  isGrouped?: boolean;
}) {
  if (height <= 0) return null;
  const row = (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it has neither content nor focus.
    <tr aria-hidden="true" style={{ height }}>
      {/* One cell: a span of columns that a phone hides would add empty ones. */}
      <td />
    </tr>
  );
  return isGrouped ? <tbody aria-hidden="true">{row}</tbody> : row;
}
