/** Which zone names are accepted, and which one was probably meant. */
import { closest } from "../spec/closest.ts";

/**
 * IANA names without a slash. Anything else without one is an abbreviation, and Node reads those in its own
 * way: BST as Bangladesh, IST as India.
 */
export const unslashedZones: ReadonlySet<string> = new Set(
  (
    "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland " +
    "Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC " +
    "ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu"
  ).split(" "),
);

/** Present names that Node lists under an older spelling. */
const renamed = [
  "UTC",
  "America/Argentina/Buenos_Aires",
  "America/Nuuk",
  "Asia/Ho_Chi_Minh",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Asia/Yangon",
  "Europe/Kyiv",
];

/** The nearest known name, by the whole of it or by its city; nothing if none is near. */
export function suggestZone(name: string): string | undefined {
  const zones = [...renamed, ...Intl.supportedValuesOf("timeZone")];
  const whole = closest(name, zones);
  if (whole !== undefined) return whole;
  const byCity = new Map(zones.map((zone) => [zone.slice(zone.lastIndexOf("/") + 1), zone]));
  const city = closest(name, [...byCity.keys()]);
  return city === undefined ? undefined : byCity.get(city);
}
