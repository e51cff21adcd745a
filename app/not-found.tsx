import { Notice } from "@/components/shell/notice";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";

export const metadata = { title: "Nothing here" };

/** Shown for an address that does not exist. */
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
      Check the address for typing errors. It may also be a page that your account has no access to.
    </Notice>
  );
}
