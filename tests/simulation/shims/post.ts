// In place of `lib/alerts/delivery/post.ts`: the simulation's receivers answer.
import type { OutgoingRequest, post as realPost } from "@/lib/alerts/delivery/post";
import { host } from "./host";

export { parseReceiver, RefusedAddress } from "@/lib/alerts/delivery/post";
export const post: typeof realPost = (request: OutgoingRequest, { signal }) => host.post(request, signal);
