import Link from "next/link";
import { Notice } from "@/components/shell/notice";
import { buttonVariants } from "@/components/ui/button";

export const metadata = { title: "Nothing here" };

/** The page of every address that is none. */
export default function NotFound() {
  return (
    <Notice
      title="There is nothing here"
      actions={
        <>
          <Link href="/" className={buttonVariants()}>
            Start page
          </Link>
          <a href="/docs" className={buttonVariants({ variant: "outline" })}>
            API reference
          </a>
        </>
      }
    >
      Check the address for a typing error. It may also be a page that your account does not reach.
    </Notice>
  );
}
