/** A receiver of effects without any protection: it knows neither fences nor idempotency keys. */
import { Witness } from "../../../src/chaos/witness.ts";

export class BelievingWitness extends Witness {
  protected override refuses(): undefined {
    return undefined;
  }
}
