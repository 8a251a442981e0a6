import { retirement } from "../retirement.ts";

export default retirement(false, [
  { line: "convoy unretire fabric", what: "let it run again" },
  { line: "convoy unretire box.fabric --json", what: "the same by its bus id, the file as JSON" },
]);
