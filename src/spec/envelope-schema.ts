/** What every kind of document begins with. */
import { z } from "zod";
import { name } from "./scalar-schema.ts";

export const apiVersionName = "escapement/v1";

export const apiVersion = z.literal(apiVersionName).describe("The version of the file format.");

export const metadata = z
  .strictObject({ name: name("Unique among the documents of this kind.") })
  .describe("Who this document is.");
