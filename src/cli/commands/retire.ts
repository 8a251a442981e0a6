import { retirement } from "../retirement.ts";

export default retirement(true, [
  { line: "convoy retire fabric", what: "mark it as retired, in its file" },
  { line: "convoy retire box.fabric --json", what: "the same by its bus id, the file as JSON" },
]);
