// The scripts of the reference. Each works without the others, and the pages work without any of them.
import { replaceAddresses } from "./addresses";
import { enableCopying, rememberLanguage } from "./code";
import { waitForService } from "./connection";
import { closeContentsOnChoice, followOldAnchors } from "./navigation";
import { enableSearch } from "./search";
import { enableThemeToggle } from "./theme-toggle";

followOldAnchors();
replaceAddresses();
rememberLanguage();
enableCopying();
closeContentsOnChoice();
enableThemeToggle();
enableSearch();
waitForService();
