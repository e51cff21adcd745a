import { watchRequests } from "@/components/connection/service";

// Next runs this in the browser before a page handles input.
watchRequests();
