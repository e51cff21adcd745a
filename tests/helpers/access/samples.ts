import type { Samples } from "./sample";
import { keySamples } from "./samples/keys";
import { ledgerSamples } from "./samples/ledger";
import { oauthSamples } from "./samples/oauth";
import { peopleSamples } from "./samples/people";

/** A call for every endpoint of the service, by method and path. A route without one fails the test that looks for it. */
export const samples: Samples = { ...ledgerSamples, ...keySamples, ...oauthSamples, ...peopleSamples };
