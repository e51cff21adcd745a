// What the pages of the reference do beyond HTML. Each works without the others, and the pages without any of them.
import { fillAddresses } from "./addresses";
import { enableCopying, rememberLanguage } from "./code";
import { followOldAnchors, keepContentsTidy } from "./navigation";
import { enableSearch } from "./search";
import { enableThemeToggle } from "./theme-toggle";

followOldAnchors();
fillAddresses();
rememberLanguage();
enableCopying();
keepContentsTidy();
enableThemeToggle();
enableSearch();
