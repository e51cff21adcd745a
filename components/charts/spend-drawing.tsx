import { formatTick } from "@/components/figures/money";
import { Drawing, type Drawn } from "./drawing";

/** The height of the chart of spend, in pixels. */
const height = 288;

/** The drawing of the chart of spend. The server draws it; the browser draws it again only to hide a series or to show the whole axis. */
export function SpendDrawing(drawn: Drawn) {
  return <Drawing {...drawn} height={height} formatTick={(value) => formatTick(value)} />;
}
