/** `.sql` files are compiled into the bundle as text (see scripts/build.mjs and vitest.config.ts). */
declare module "*.sql" {
  const text: string;
  export default text;
}
