import { formatTick } from "@/components/figures/money";
import { Drawing, type Drawn } from "./drawing";

/** The height of the chart of spend, in pixels. */
const height = 288;

/** The drawing of the chart of spend. The server draws it; the browser only when a series is hidden or the axis not cut. */
export function SpendDrawing(drawn: Drawn) {
  return <Drawing {...drawn} height={height} formatTick={(value) => formatTick(value)} />;
}
