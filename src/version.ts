/** The version of this convoy, as package.json names it. */
export { version as VERSION } from "../package.json";
