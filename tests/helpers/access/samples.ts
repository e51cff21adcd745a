import type { Samples } from "./sample";
import { alertSamples } from "./samples/alerts";
import { billSamples } from "./samples/bills";
import { keySamples } from "./samples/keys";
import { ledgerSamples } from "./samples/ledger";
import { oauthSamples } from "./samples/oauth";
import { peopleSamples } from "./samples/people";

/** A request for every endpoint of the service, by method and path. A test fails for a route without one. */
export const samples: Samples = {
  ...ledgerSamples,
  ...billSamples,
  ...keySamples,
  ...oauthSamples,
  ...peopleSamples,
  ...alertSamples,
};
