/** Filters are real jq: what its manual promises, what is refused, and what no filter can see. Needs the built files. */
import { afterAll, describe, expect, test } from "vitest";
import { createDocuments } from "../../../src/documents/documents.js";

/** The key is the document's own text. */
const documents = createDocuments(
  { load: async (key) => [new TextEncoder().encode(key)] },
  { threads: 1, cacheBytes: 1_000_000 },
);
afterAll(() => documents.close());

const filtered = async (document: string, jq: string): Promise<string> =>
  (await documents.filter(document, jq)).json.toString();
const failureOf = (document: string, jq: string): Promise<unknown> =>
  documents.filter(document, jq).then(
    ({ json }) => `no failure: ${json}`,
    (error: unknown) => error,
  );

describe("the language", () => {
  test.each([
    ["identity", '{"b":1,"a":[2]}', ".", '{"b":1,"a":[2]}'],
    ["field", '{"name":"Cube","id":3}', ".name", '"Cube"'],
    ["nested field, quoted field", '{"a":{"b c":7}}', '.a."b c"', "7"],
    ["absent field", "{}", ".name", "null"],
    ["optional", "[1,{}]", "[.[] | .a?]", "[null]"],
    ["index from the end", "[1,2,3]", ".[-1]", "3"],
    ["slice", "[0,1,2,3,4]", ".[1:3]", "[1,2]"],
    ["slice of a string", '"Camera"', ".[:3]", '"Cam"'],
    ["iterator: several outputs are an array", "[1,2,3]", ".[]", "[1,2,3]"],
    ["comma", '{"a":1,"b":2}', ".b, .a", "[2,1]"],
    ["pipe", '[{"x":1},{"x":2}]', ".[0] | .x", "1"],
    ["recursion", '{"a":[{"id":1},{"id":2}]}', "[.. | .id? // empty]", "[1,2]"],
    ["arithmetic", "{}", "[1 + 2 * 3, 7 % 4, 1 / 4, -(3)]", "[7,3,0.25,-3]"],
    ["a filter that begins with a dash", "{}", "-1 + 3", "2"],
    [
      "addition of objects, subtraction of arrays",
      "{}",
      "[{a:1} + {b:2}, [1,2,1] - [1]]",
      '[{"a":1,"b":2},[2]]',
    ],
    ["deep merge", '{"a":{"x":1}}', ". * {a:{y:2}}", '{"a":{"x":1,"y":2}}'],
    ["length", '["ab",null,{"a":1}]', "[.[] | length]", "[2,0,1]"],
    ["keys, has, in", '{"b":1,"a":2}', '[keys, has("a"), ("z" | in({"a":1}))]', '[["a","b"],true,false]'],
    ["map and map_values", '{"a":1}', "[map(. + 1), map_values(. * 10)]", '[[2],{"a":10}]'],
    ["path and getpath", '{"a":[{"b":5}]}', '[path(.a[0].b), getpath(["a",0,"b"])]', '[["a",0,"b"],5]'],
    [
      "paths and leaf paths",
      '{"a":[1]}',
      '[[paths], [paths(type == "number")]]',
      '[[["a"],["a",0]],[["a",0]]]',
    ],
    ["del", '{"a":1,"b":[1,2,3]}', "del(.a, .b[0,2])", '{"b":[2]}'],
    [
      "to_entries and with_entries",
      '{"a":1}',
      '[to_entries, with_entries(.key |= "n_" + .)]',
      '[[{"key":"a","value":1}],{"n_a":1}]',
    ],
    ["select", "[1,5,3]", "map(select(. > 2))", "[5,3]"],
    ["empty: no output is an empty array", "[1]", "empty", "[]"],
    ["recurse with a condition", "2", "[recurse(. * .; . < 20)]", "[2,4,16]"],
    [
      "tostring, tonumber, type",
      '[1,"2"]',
      "[(.[0] | tostring), (.[1] | tonumber), type]",
      '["1",2,"array"]',
    ],
    ["tojson and fromjson", '{"a":[1]}', "[tojson, (tojson | fromjson)]", '["{\\"a\\":[1]}",{"a":[1]}]'],
    ["sort_by", '[{"n":2},{"n":1}]', "sort_by(.n) | map(.n)", "[1,2]"],
    [
      "group_by",
      '[{"t":"a","v":1},{"t":"b","v":2},{"t":"a","v":3}]',
      "group_by(.t) | map(map(.v))",
      "[[1,3],[2]]",
    ],
    ["min, max, add, any, all", "[3,1,2]", "[min, max, add, any(. > 2), all(. > 2)]", "[1,3,6,true,false]"],
    ["unique_by and flatten", "[[1,2],[1,3],[4]]", "[unique_by(.[0]), flatten]", "[[[1,2],[4]],[1,2,1,3,4]]"],
    [
      "reverse, contains, inside",
      '["a","bc"]',
      '[reverse, contains(["b"]), ("b" | inside("abc"))]',
      '[["bc","a"],true,true]',
    ],
    [
      "startswith, endswith, ltrimstr, rtrimstr",
      '"Main Camera"',
      '[startswith("Main"), endswith("x"), ltrimstr("Main "), rtrimstr("era")]',
      '[true,false,"Camera","Main Cam"]',
    ],
    [
      "split, join, splits",
      '"a, b,c"',
      '[split(", "), (split(",") | join("|")), [splits(", *")]]',
      '[["a","b,c"],"a| b|c",["a","b","c"]]',
    ],
    ["ascii case and explode", '"aB"', "[ascii_downcase, ascii_upcase, explode]", '["ab","AB",[97,66]]'],
    [
      "limit, first, last, until, range",
      "{}",
      "[[limit(2; repeat(1))], first(range(5; 9)), last(range(4)), (1 | until(. > 50; . * 2))]",
      "[[1,1],5,3,64]",
    ],
    ["string interpolation", '{"n":"Cube","i":3}', '"\\(.n) #\\(.i + 1)"', '"Cube #4"'],
    [
      "formats",
      '[1,"a\\"b"]',
      "[@csv, @tsv, @json, (.[1] | @base64, @uri, @html)]",
      '["1,\\"a\\"\\"b\\"","1\\ta\\"b","[1,\\"a\\\\\\"b\\"]","YSJi","a%22b","a&quot;b"]',
    ],
    ["base64 back", '"w7w="', "@base64d", '"ü"'],
    [
      "dates",
      "1425599621",
      "[todate, (todate | fromdate), (gmtime | mktime)]",
      '["2015-03-05T23:53:41Z",1425599621,1425599621]',
    ],
    [
      "if, elif, else",
      "[0,5,50]",
      'map(if . == 0 then "none" elif . < 10 then "few" else "many" end)',
      '["none","few","many"]',
    ],
    ["alternative", '[{"a":null},{"a":false},{"a":0}]', '[.[] | .a // "none"]', '["none","none",0]'],
    ["try and catch", "[1]", 'try error("no") catch "caught \\(.)"', '"caught no"'],
    [
      "reduce and foreach",
      "[1,2,3]",
      "[reduce .[] as $x (0; . + $x), [foreach .[] as $x (0; . + $x)]]",
      "[6,[1,3,6]]",
    ],
    [
      "functions, with parameters and by value",
      "[1,2]",
      "def inc($by): . + $by; def twice(f): f | f; map(twice(inc(10)))",
      "[21,22]",
    ],
    [
      "variables and destructuring",
      '{"p":{"x":1},"l":[2,3]}',
      ". as {p: {$x}, l: [$a, $b]} | [$x, $a, $b]",
      "[1,2,3]",
    ],
    [
      "assignments",
      '{"a":1,"b":[1,2]}',
      ".a += 4 | .b[] |= . * 2 | .c = 0 | .d //= 9",
      '{"a":5,"b":[2,4],"c":0,"d":9}',
    ],
    [
      "test, capture, sub",
      '"Enemy_07"',
      '[test("^enemy"; "i"), capture("(?<name>[A-Za-z]+)_(?<no>[0-9]+)"), sub("_0*"; "#")]',
      '[true,{"name":"Enemy","no":"07"},"Enemy#7"]',
    ],
    ["walk", "[3,[1,2]]", 'walk(if type == "number" then . + 1 else . end)', "[4,[2,3]]"],
    [
      "infinite and nan are JSON",
      "{}",
      "[infinite, nan, (nan | isnan), (infinite | isinfinite)]",
      "[1.7976931348623157e+308,null,true,true]",
    ],
    ["the place in the filter", "{}", "$__loc__.line", "1"],
    ["a comment at the end", "[1]", ".[0] # the first", "1"],
  ])("%s", async (_name, document, jq, expected) => {
    expect(await filtered(document, jq)).toBe(expected);
  });

  test("outputs are counted, and one of them may be an array itself", async () => {
    expect(await documents.filter("[1,2]", ".")).toMatchObject({ outputs: 1 });
    expect(await documents.filter("[1,2]", ".[]")).toMatchObject({ outputs: 2 });
    expect(await documents.filter("[1,2]", "empty")).toMatchObject({ outputs: 0 });
  });

  test("unicode and newlines inside of strings survive", async () => {
    const text = JSON.stringify({ n: "Ünï 木 😀\n\r\u2028 \u0000" });
    expect(JSON.parse(await filtered(text, "."))).toEqual(JSON.parse(text));
  });

  test("numbers keep digits that a double has not", async () => {
    expect(await filtered('{"id":9007199254740993123}', ".id")).toBe("9007199254740993123");
  });
});

describe("what is refused", () => {
  test.each([
    ["a filter that is none", "{}", ".a |", "syntax", "unexpected end of file"],
    ["an unknown function", "{}", "nonsense", "syntax", "nonsense/0 is not defined"],
    ["no filter", "{}", "", "syntax", "not given"],
    ["what looks like a flag of jq", "{}", "--version", "syntax", "version/0 is not defined"],
    ["a NUL, behind which jq would not read", "{}", ".\0nonsense", "syntax", "NUL"],
    ["a filter without measure", "{}", `.${" ".repeat(20_000)}`, "syntax", "longer than"],
    ["a type error", '{"a":1}', ".a.b", "runtime", "Cannot index number"],
    ["an error after outputs", "[1]", '1, 2, error("late")', "runtime", "late"],
    ["an end in the middle", "{}", '"bye" | halt_error', "runtime", "bye"],
    ["a document that is not JSON", '{"a":', ".", "malformed", "parse error"],
    ["an empty document", " \n", ".", "malformed", "empty"],
    ["a document nested without measure", "[".repeat(20_000), ".", "malformed", "depth"],
    ["more memory than jq has", "{}", '"x" * 1e9', "memory", "256 MB"],
    ["endless nesting", "{}", "reduce range(200000) as $i (0; [.]) | tojson", "memory", "256 MB"],
    ["a filter nested too deep", "{}", `${"[".repeat(3_000)}1${"]".repeat(3_000)}`, "memory", "256 MB"],
  ])("%s", async (_name, document, jq, kind, message) => {
    expect(await failureOf(document, jq)).toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  test("after each of them the same thread answers as if nothing had been", async () => {
    expect(await filtered("[4]", ".[0]")).toBe("4");
  });
});

describe("what no filter sees", () => {
  test("no environment, neither the process's nor an invented one", async () => {
    expect(await filtered("{}", "$ENV, env, env.PATH")).toBe("[{},{},null]");
  });

  test.each([
    ["include of a file", 'include "/etc/passwd"; .'],
    ["import of data", 'import "/etc/hostname" as $x; $x'],
    ["import by a search path", 'import "package" as $x {search: "/"}; $x'],
  ])("no file: %s", async (_name, jq) => {
    expect(await failureOf("{}", jq)).toMatchObject({
      kind: "syntax",
      message: expect.stringContaining("module not found"),
    });
  });

  test("no second input", async () => {
    expect(await filtered("[1]", "[inputs], (try input catch .)")).toBe('[[],"break"]');
  });

  test("nothing that is said on the side becomes output", async () => {
    expect(await filtered("[1]", 'debug | stderr | debug("x") | .[0]')).toBe("1");
  });
});
