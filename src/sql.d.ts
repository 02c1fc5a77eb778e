/** `.sql` files are compiled into the bundle as text (see scripts/build.mjs and vitest.config.ts). */
declare module "*.sql" {
  const text: string;
  export default text;
}

/** So are the shell scripts that run on hosts. */
declare module "*.sh" {
  const text: string;
  export default text;
}
